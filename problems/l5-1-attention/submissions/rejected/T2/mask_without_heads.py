"""Only the last three axes of a mask are looked at."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from tinyllm import PCG32, Tensor


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: NDArray[np.bool_] | None = None,
    dropout: float = 0.0,
    training: bool = False,
    rng: PCG32 | None = None,
) -> tuple[Tensor, Tensor]:
    """Output [..., Tq, Dv] and weights [..., Tq, Tk]; the weights are those before dropout."""
    check_inputs(q, k, v)
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout is {dropout}, but it has to lie in [0, 1)")
    scores = q @ k.swapaxes(-1, -2) / sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax()
    else:
        hidden = ~visible_entries(mask[0] if mask.ndim > 3 and len(mask) == q.shape[0] else mask, scores.shape)
        # The lowest finite number: with -inf, a row that sees nothing would become 0 / 0.
        scores = scores.masked_fill(hidden, np.finfo(scores.dtype).min)
        weights = scores.softmax().masked_fill(hidden, 0.0)
    if training and dropout > 0:
        return drop(weights, dropout, rng) @ v, weights
    return weights @ v, weights


def drop(weights: Tensor, dropout: float, rng: PCG32 | None) -> Tensor:
    """Each weight zero with probability `dropout`, the others larger by 1 / (1 - dropout)."""
    if rng is None:
        raise ValueError("dropout in training needs an rng")
    dropped = rng.random(weights.shape) < dropout
    return weights.masked_fill(dropped, 0.0) / (1 - dropout)


def check_inputs(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise unless q, k and v are tensors whose matrices fit each other."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} has to be a Tensor, not {type(tensor).__name__}")
        if tensor.ndim < 2:
            raise ValueError(f"{name} has shape {tensor.shape}, but needs at least two axes")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q and k differ in width: their shapes are {q.shape} and {k.shape}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k and v differ in length: their shapes are {k.shape} and {v.shape}")


def visible_entries(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """`mask` broadcast to the `shape` of the scores."""
    if mask.dtype != np.bool_:
        raise TypeError(f"the mask has to be of truth values, not of {mask.dtype}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        message = f"a mask of shape {mask.shape} does not fit scores of shape {shape}"
        raise ValueError(message) from None
