import numpy as np
from tinyllm import PCG32, Linear, Module, Tensor
from tinyllm.xfmr.attention import scaled_dot_product_attention


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, rng=None):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads {n_heads} does not tile {d_model}")
        rng = rng or PCG32(0).substream("init")
        self.q_proj = Linear(d_model, d_model, bias, rng)
        self.k_proj = Linear(d_model, d_model, bias, rng)
        self.v_proj = Linear(d_model, d_model, bias, rng)
        self.out_proj = Linear(d_model, d_model, bias, rng)
        self.d, self.h, self.p = d_model, n_heads, dropout
        self.rng = PCG32(0).substream("dropout")

    def split_heads(self, x):
        self.check(x, "x")
        B, T, d = x.shape
        return x.reshape(B, T, self.h, d // self.h).transpose(0, 2, 1, 3)

    def merge_heads(self, x):
        if x.ndim != 4 or x.shape[1] != self.h or x.shape[3] != self.d // self.h:
            raise ValueError(f"x is {x.shape}")
        B, H, T, dh = x.shape
        return x.transpose(0, 2, 1, 3).reshape(B, T, H * dh)

    def head_mask(self, mask, B, Tq, Tk):
        if mask is None:
            return None
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(f"mask is {mask.dtype}")
        shape = mask.shape
        if mask.ndim == 3:
            mask = mask[:, None]
        try:
            return np.broadcast_to(mask, (B, self.h, Tq, Tk))
        except ValueError:
            raise ValueError(f"mask is {shape}") from None

    def attend(self, x_q, x_kv, mask=None):
        self.check(x_q, "x_q")
        self.check(x_kv, "x_kv")
        if len(x_q) != len(x_kv):
            raise ValueError("x_q and x_kv differ in length")
        mask = self.head_mask(mask, len(x_q), x_q.shape[1], x_kv.shape[1])
        q = self.split_heads(self.q_proj(x_q))
        k = self.split_heads(self.k_proj(x_kv))
        v = self.split_heads(self.v_proj(x_kv))
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.p, self.training, self.rng)
        return weights, self.out_proj(self.merge_heads(out))

    def forward(self, x_q, x_kv, mask=None):
        return self.attend(x_q, x_kv, mask)[1]

    def load_packed_in_proj(self, weight, bias=None):
        if np.shape(weight) != (3 * self.d, self.d):
            raise ValueError(f"weight is {np.shape(weight)}")
        if bias is not None and (self.q_proj.bias is None or np.shape(bias) != (3 * self.d,)):
            raise ValueError("bias does not fit")
        for i, layer in enumerate((self.q_proj, self.k_proj, self.v_proj)):
            layer.weight.data[...] = weight[i * self.d : (i + 1) * self.d]
            if bias is not None:
                layer.bias.data[...] = bias[i * self.d : (i + 1) * self.d]

    def check(self, x, name):
        if x.ndim != 3 or x.shape[2] != self.d:
            raise ValueError(f"{name} is {x.shape}")
