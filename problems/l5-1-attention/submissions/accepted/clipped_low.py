"""An additive bias, far below any score but finite, and the gradient cut by multiplication."""

import numpy as np
import tinyllm as tl


def scaled_dot_product_attention(
    q: tl.Tensor, k: tl.Tensor, v: tl.Tensor, mask=None, dropout=0.0, training=False, rng=None
):
    if any(not isinstance(t, tl.Tensor) for t in (q, k, v)):
        raise TypeError("tensors for q, k, v, please")
    if any(t.ndim < 2 for t in (q, k, v)):
        raise ValueError("at least two axes for q, k, v, please")
    if not (dropout >= 0 and dropout < 1):
        raise ValueError("dropout out of range")
    d = q.shape[-1]
    if k.shape[-1] != d:
        raise ValueError("q is as wide as k, please")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError("v is as long as k, please")
    axes = (*range(k.ndim - 2), k.ndim - 1, k.ndim - 2)
    s = q @ k.transpose(axes) * d**-0.5
    seen = None
    if mask is not None:
        if np.asarray(mask).dtype != bool:
            raise TypeError("mask must hold truth values")
        try:
            seen = np.broadcast_to(mask, s.shape).astype(s.dtype)
        except ValueError:
            raise ValueError("a mask that fits, please")
        s = s * seen + (seen - 1) * s.dtype.type(1e30)
    w = s.softmax(-1)
    if seen is not None:
        w = w * seen
    p = w
    if training and dropout > 0:
        if rng is None:
            raise ValueError("give me an rng")
        u = rng.uniform(0.0, 1.0, w.shape)
        p = w * np.asarray((u >= dropout) / (1 - dropout), w.dtype)
    return p @ v, w
