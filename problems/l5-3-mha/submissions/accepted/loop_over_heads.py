# One head after the other, with slices in place of reshapes.
import numpy as np

from tinyllm import PCG32, Linear, Module, concat
from tinyllm.xfmr.attention import scaled_dot_product_attention


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, rng=None):
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError("n_heads has to tile d_model: got %r and %r" % (n_heads, d_model))
        if rng is None:
            rng = PCG32(0).substream("init")
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, Linear(d_model, d_model, bias, rng))
        self.d, self.h, self.dh, self.p = d_model, n_heads, d_model // n_heads, dropout
        self.noise = PCG32(0).substream("dropout")

    def split_heads(self, x):
        self._check(x, "x")
        B, T, _ = x.shape
        heads = [
            x[:, :, i * self.dh : (i + 1) * self.dh].reshape(B, 1, T, self.dh)
            for i in range(self.h)
        ]
        return concat(heads, axis=1)

    def merge_heads(self, x):
        if x.ndim != 4 or x.shape[1] != self.h or x.shape[3] != self.dh:
            raise ValueError(f"x has shape {x.shape}, which is not [B, H, T, dh]")
        return concat([x[:, i] for i in range(self.h)], axis=2)

    def head_mask(self, mask, B, Tq, Tk):
        if mask is None:
            return None
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError("the mask has to be boolean")
        try:
            shaped = mask.reshape(B, 1, Tq, Tk) if mask.ndim == 3 else mask
            return np.broadcast_to(shaped, (B, self.h, Tq, Tk))
        except ValueError:
            raise ValueError(f"mask {mask.shape} does not fit {(B, self.h, Tq, Tk)}") from None

    def attend(self, x_q, x_kv, mask=None):
        self._check(x_q, "x_q")
        self._check(x_kv, "x_kv")
        B, Tq, _ = x_q.shape
        Tk = x_kv.shape[1]
        if x_kv.shape[0] != B:
            raise ValueError("x_q and x_kv have different batches")
        seen = self.head_mask(mask, B, Tq, Tk)
        q, k, v = self.q_proj(x_q), self.k_proj(x_kv), self.v_proj(x_kv)
        outputs, weights = [], []
        for i in range(self.h):
            own = slice(i * self.dh, (i + 1) * self.dh)
            out, w = scaled_dot_product_attention(
                q[..., own],
                k[..., own],
                v[..., own],
                None if seen is None else seen[:, i],
                self.p,
                self.training,
                self.noise,
            )
            outputs.append(out)
            weights.append(w.reshape(B, 1, Tq, Tk))
        return self.out_proj(concat(outputs, axis=-1)), concat(weights, axis=1)

    def forward(self, x_q, x_kv, mask=None):
        return self.attend(x_q, x_kv, mask)[0]

    def load_packed_in_proj(self, weight, bias=None):
        weight = np.asarray(weight)
        if weight.shape != (3 * self.d, self.d):
            raise ValueError(f"weight has shape {weight.shape}")
        for layer, rows in zip((self.q_proj, self.k_proj, self.v_proj), np.split(weight, 3)):
            layer.weight.data = rows.astype(layer.weight.dtype)
        if bias is None:
            return
        bias = np.asarray(bias)
        if bias.shape != (3 * self.d,) or self.q_proj.bias is None:
            raise ValueError("this bias does not belong here")
        for layer, rows in zip((self.q_proj, self.k_proj, self.v_proj), np.split(bias, 3)):
            layer.bias.data = rows.astype(layer.bias.dtype)

    def _check(self, x, name):
        if x.ndim != 3 or x.shape[-1] != self.d:
            raise ValueError(f"{name}: expected [B, T, {self.d}], got {list(x.shape)}")
