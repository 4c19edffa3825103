"""One matrix after another, joined at the end, with printing on the way."""

import numpy as np
from tinyllm import Tensor, concat


class Attention:
    def __init__(self, dropout, training, rng):
        if not 0 <= dropout < 1:
            raise ValueError("bad dropout")
        self.rate = dropout if training else 0
        if self.rate and rng is None:
            raise ValueError("dropout wants an rng")
        self.rng = rng

    def one(self, q, k, v, hidden):
        scores = q @ k.T / np.sqrt(q.shape[1])
        scores = scores.masked_fill(hidden, np.finfo(q.dtype).min)
        weights = scores.softmax(axis=1).masked_fill(hidden, 0)
        used = weights
        if self.rate:
            gone = self.rng.random(weights.shape) < self.rate
            used = weights.masked_fill(gone, 0) * (1 / (1 - self.rate))
        return used @ v, weights


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.0, training=False, rng=None):
    attention = Attention(dropout, training, rng)
    for x, name in zip((q, k, v), "qkv"):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} is no Tensor")
        if x.ndim < 2:
            raise ValueError(f"{x.shape} is too short a shape for {name}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("widths of q and k")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("lengths of k and v")
    lead, rows = q.shape[:-2], (*q.shape[:-1], k.shape[-2])
    if mask is None:
        mask = np.ones(rows, dtype=bool)
    elif mask.dtype != np.bool_:
        raise TypeError(f"mask of {mask.dtype}")
    try:
        hidden = ~np.broadcast_to(mask, rows)
    except ValueError:
        raise ValueError(f"mask of shape {mask.shape} for {rows}") from None
    flat = [x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)]
    hidden = hidden.reshape(-1, *rows[-2:])
    print("attending", rows)
    pairs = [attention.one(*each, hide) for *each, hide in zip(*flat, hidden)]
    outs, weights = zip(*pairs)
    return concat(outs).reshape(*lead, rows[-2], v.shape[-1]), concat(weights).reshape(*rows)
