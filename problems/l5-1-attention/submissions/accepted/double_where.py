"""Minus infinity, made safe by two `where`s; the softmax is written out."""

import numpy as np
from tinyllm import Tensor, where


def softmax(x):
    top = x.data.max(axis=-1, keepdims=True)  # a constant: the shift cancels
    e = (x - np.where(np.isfinite(top), top, 0)).exp()
    return e / e.sum(axis=-1, keepdims=True)


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.0, training=False, rng=None):
    if not all(type(x) is Tensor for x in (q, k, v)):
        raise TypeError("q, k and v must be Tensors")
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ValueError("q, k and v need at least two axes")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"the shapes of q {q.shape}, k {k.shape} and v {v.shape} do not fit")
    if not 0.0 <= dropout < 1.0:
        raise ValueError("dropout must be in [0, 1)")
    scores = (q * float(q.shape[-1]) ** -0.5) @ k.swapaxes(-2, -1)
    if mask is not None:
        if mask.dtype != bool:
            raise TypeError("mask must be boolean")
        try:
            mask = np.broadcast_to(mask, scores.shape)
        except ValueError as error:
            raise ValueError(f"mask: {error}")
        alive = mask.any(axis=-1, keepdims=True)
        scores = where(mask | ~alive, scores, -np.inf)
        weights = where(alive, softmax(scores), 0.0)
    else:
        weights = softmax(scores)
    used = weights
    if training and dropout:
        if rng is None:
            raise ValueError("rng is required for dropout")
        keep = rng.random(weights.shape) >= dropout
        used = weights * (keep / (1 - dropout)).astype(weights.dtype)
    return used @ v, weights
