"""Filled with minus infinity: NaN in between, but none passes a masked fill on the way back."""

import math

import numpy as np
from tinyllm import PCG32, Tensor


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.0, training=False, rng=None):
    match (q, k, v):
        case (Tensor(), Tensor(), Tensor()):
            pass
        case _:
            raise TypeError("q, k and v are Tensors")
    if not 0 <= dropout < 1 or math.isnan(dropout):
        raise ValueError(f"{dropout=}")
    if q.data.ndim < 2 or k.data.ndim < 2 or v.data.ndim < 2:
        raise ValueError(f"{q.shape=}, {k.shape=}, {v.shape=}")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{q.shape=}, {k.shape=}, {v.shape=}")
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(k.shape[-1]))
    if mask is not None:
        if mask.dtype != np.bool_:
            raise TypeError(f"{mask.dtype=}")
        with np.errstate(invalid="ignore"):
            scores = scores.masked_fill(~mask, -np.inf)
            weights = scores.softmax(axis=-1).masked_fill(~mask, 0)
    else:
        weights = scores.softmax(axis=-1)
    dropped = weights
    if training and dropout:
        if not isinstance(rng, PCG32):
            raise ValueError(f"{rng=}")
        factor = np.where(rng.random(weights.shape) < dropout, 0, 1 / (1 - dropout))
        dropped = weights * Tensor(factor, dtype=weights.dtype)
    return dropped @ v, weights
