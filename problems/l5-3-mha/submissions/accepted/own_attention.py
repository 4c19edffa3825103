# Everything by hand, without the attention of L5.1.
from math import sqrt

import numpy as np

import tinyllm
from tinyllm import Linear, Tensor


class MultiHeadAttention(tinyllm.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, rng=None):
        if n_heads < 1 or d_model // n_heads * n_heads != d_model:
            raise ValueError(f"d_model={d_model} cannot be tiled by n_heads={n_heads}")
        self.width, self.heads, self.p = d_model, n_heads, dropout
        self.drops = tinyllm.PCG32().substream("dropout")
        start = rng or tinyllm.PCG32().substream("init")
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = [
            Linear(d_model, d_model, bias=bias, rng=start) for _ in range(4)
        ]

    def split_heads(self, x):
        b, t = self._sequence(x, "x")
        return x.reshape((b, t, self.heads, -1)).swapaxes(1, 2)

    def merge_heads(self, x):
        if x.ndim != 4 or x.shape[1::2] != (self.heads, self.width // self.heads):
            raise ValueError(f"x of shape {x.shape} was not made by split_heads")
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)

    def head_mask(self, mask, B, Tq, Tk):
        if mask is None:
            return None
        mask = np.array(mask)
        if mask.dtype.kind != "b":
            raise TypeError(f"mask: expected booleans, got {mask.dtype}")
        if mask.ndim == 3:
            mask = np.expand_dims(mask, 1)
        whole = (B, self.heads, Tq, Tk)
        try:
            fits = np.broadcast_shapes(mask.shape, whole) == whole
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"mask: {mask.shape} does not expand to {whole}")
        return mask

    def attend(self, x_q, x_kv, mask=None):
        b, tq = self._sequence(x_q, "x_q")
        b_kv, tk = self._sequence(x_kv, "x_kv")
        if b != b_kv:
            raise ValueError(f"x_kv holds {b_kv} sequences and x_q holds {b}")
        seen = self.head_mask(mask, b, tq, tk)
        seen = np.ones((), bool) if seen is None else seen
        hidden = ~np.broadcast_to(seen, (b, self.heads, tq, tk))
        q = self.split_heads(self.q_proj(x_q) * (1 / sqrt(self.width // self.heads)))
        k, v = (self.split_heads(layer(x_kv)) for layer in (self.k_proj, self.v_proj))
        scores = (q @ k.swapaxes(-1, -2)).masked_fill(hidden, -1e30)
        weights = scores.softmax().masked_fill(hidden, 0.0)
        used = weights
        if self.training and self.p > 0:
            kept = self.drops.random(weights.shape) >= self.p
            used = weights * Tensor(kept / (1 - self.p), dtype=weights.dtype)
        return self.out_proj(self.merge_heads(used @ v)), weights

    def forward(self, x_q, x_kv, mask=None):
        output, weights = self.attend(x_q, x_kv, mask)
        return output

    def load_packed_in_proj(self, weight, bias=None):
        weight, d = np.array(weight), self.width
        if weight.shape != (3 * d, d):
            raise ValueError(f"weight: expected {(3 * d, d)}, got {weight.shape}")
        state = self.state_dict()
        for i, name in enumerate("qkv"):
            state[f"{name}_proj.weight"] = weight[i * d :][:d]
        if bias is not None:
            bias = np.array(bias)
            if bias.shape != (3 * d,) or "q_proj.bias" not in state:
                raise ValueError(f"bias: a bias of shape {bias.shape} has no place here")
            for i, name in enumerate("qkv"):
                state[f"{name}_proj.bias"] = bias[i * d :][:d]
        self.load_state_dict(state)

    def _sequence(self, x, name):
        if len(x.shape) != 3 or x.shape[2] != self.width:
            raise ValueError(f"{name}: expected a sequence of width {self.width}, got {x.shape}")
        return x.shape[:2]
