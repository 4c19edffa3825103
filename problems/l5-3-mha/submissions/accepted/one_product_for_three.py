# One matrix product for q, k and v; what is not needed of it is cut away.
import numpy as np
from tinyllm import *
from tinyllm.xfmr import attention


class HeadLayout:
    """Where heads lie in the features."""

    def __init__(self, width, heads):
        if heads < 1 or width % heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.width = width
        self.heads = heads
        self.own = width // heads

    def apart(self, x):
        return x.reshape(*x.shape[:2], self.heads, self.own).transpose((0, 2, 1, 3))

    def together(self, x):
        return x.transpose((0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], self.width)


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, rng=None):
        self.layout = HeadLayout(d_model, n_heads)
        rng = rng if rng is not None else PCG32(0).substream("init")
        self.q_proj = Linear(d_model, d_model, bias, rng)
        self.k_proj = Linear(d_model, d_model, bias, rng)
        self.v_proj = Linear(d_model, d_model, bias, rng)
        self.out_proj = Linear(d_model, d_model, bias, rng)
        self.dropout = dropout
        self.stream = PCG32(0).substream("dropout")

    @property
    def inputs(self):
        return [self.q_proj, self.k_proj, self.v_proj]

    def split_heads(self, x):
        self.need(x, "x")
        return self.layout.apart(x)

    def merge_heads(self, x):
        if x.ndim != 4 or x.shape[1] != self.layout.heads or x.shape[3] != self.layout.own:
            raise ValueError(f"x has shape {x.shape}")
        return self.layout.together(x)

    def head_mask(self, mask, B, Tq, Tk):
        if mask is None:
            return mask
        if np.asarray(mask).dtype != np.dtype(bool):
            raise TypeError("mask must hold truth values only")
        seen = np.asarray(mask)
        if seen.ndim == 3:
            seen = seen[:, None, :, :]
        full = np.zeros((B, self.layout.heads, Tq, Tk), dtype=bool)
        try:
            full |= seen
        except ValueError as error:
            raise ValueError(f"mask does not fit: {error}") from error
        return full

    def attend(self, x_q, x_kv, mask=None):
        self.need(x_q, "x_q")
        self.need(x_kv, "x_kv")
        if len(x_q) != len(x_kv):
            raise ValueError("x_kv must have as many sequences as x_q")
        d = self.layout.width
        kernel = concat([layer.weight for layer in self.inputs]).T
        both = [x @ kernel for x in ([x_q] if x_q is x_kv else [x_q, x_kv])]
        if self.q_proj.bias is not None:
            shift = concat([layer.bias for layer in self.inputs])
            both = [each + shift for each in both]
        q, k, v = both[0][..., :d], both[-1][..., d : 2 * d], both[-1][..., 2 * d :]
        found, weights = attention.scaled_dot_product_attention(
            self.layout.apart(q),
            self.layout.apart(k),
            self.layout.apart(v),
            mask=self.head_mask(mask, len(x_q), x_q.shape[1], x_kv.shape[1]),
            dropout=self.dropout if self.training else 0.0,
            training=self.training,
            rng=self.stream,
        )
        return self.out_proj(self.layout.together(found)), weights

    def forward(self, x_q, x_kv, mask=None):
        return self.attend(x_q, x_kv, mask=mask)[0]

    def load_packed_in_proj(self, weight, bias=None):
        d = self.layout.width
        if np.shape(weight) != (3 * d, d):
            raise ValueError("weight must be [3d, d]")
        if bias is not None and (self.q_proj.bias is None or np.shape(bias) != (3 * d,)):
            raise ValueError("bias must be [3d], and belongs to a module with biases")
        for start, layer in zip((0, d, 2 * d), self.inputs):
            layer.weight.data = np.array(weight[start : start + d])
            if bias is not None:
                layer.bias.data = np.array(bias[start : start + d])

    def need(self, x, name):
        if x.ndim != 3:
            raise ValueError(f"{name} must have three axes")
        if x.shape[2] != self.layout.width:
            raise ValueError(f"{name} must be {self.layout.width} wide")
