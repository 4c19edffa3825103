"""No matrix product at all: products are broadcast and summed, and the checks come by hand."""

import math

import numpy as np
import tinyllm
from tinyllm import Tensor

LOW = {"float32": -1e30, "float64": -1e300}


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.0, training=False, rng=None):
    _check(q, k, v, dropout, training, rng)
    n = q.ndim
    wide_q = q.reshape(*q.shape[:-1], 1, q.shape[-1])
    wide_k = k.reshape(*k.shape[:-2], 1, *k.shape[-2:])
    scores = (wide_q * wide_k).sum(axis=n) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = _mask(mask, scores.shape)
        scores = scores.masked_fill(np.logical_not(mask), LOW[scores.dtype.name])
    shifted = scores - scores.max(axis=-1, keepdims=True).detach()
    e = shifted.exp()
    if mask is not None:
        e = e * mask.astype(e.dtype)
    total = e.sum(axis=-1, keepdims=True)
    total = tinyllm.where(total.data == 0, Tensor(1.0, dtype=total.dtype), total)
    weights = e / total
    used = weights
    if training and dropout > 0:
        numbers = np.array([rng.random() for _ in range(weights.size)]).reshape(weights.shape)
        used = tinyllm.where(numbers >= dropout, weights * (1 / (1 - dropout)), 0.0)
    wide_w = used.reshape(*used.shape, 1)
    wide_v = v.reshape(*v.shape[:-2], 1, *v.shape[-2:])
    return (wide_w * wide_v).sum(axis=-2), weights


def _mask(mask, shape):
    if not (isinstance(mask, np.ndarray) and mask.dtype.kind == "b"):
        raise TypeError(f"mask: expected booleans, got {type(mask)}")
    ours = mask.shape[::-1]
    if len(ours) > len(shape) or any(m not in (1, n) for m, n in zip(ours, shape[::-1])):
        raise ValueError(f"mask {mask.shape} does not fit {shape}")
    return mask | np.zeros(shape, bool)


def _check(q, k, v, dropout, training, rng):
    for x in (q, k, v):
        if not isinstance(x, Tensor):
            raise TypeError(f"q, k, v: expected Tensors, not {type(x)}")
        if len(x.shape) < 2:
            raise ValueError("q, k, v: expected [..., T, d]")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"q{q.shape}, k{k.shape}, v{v.shape} do not fit")
    if dropout < 0 or dropout >= 1 or dropout != dropout:
        raise ValueError(f"dropout {dropout}")
    if training and dropout > 0 and rng is None:
        raise ValueError("no rng")
