import numpy as np
from numpy.typing import NDArray
from tinyllm import PCG32, Tensor


def scaled_dot_product_attention(
    q: Tensor,  # [..., Tq, d]
    k: Tensor,  # [..., Tk, d]
    v: Tensor,  # [..., Tk, Dv]
    mask: NDArray[np.bool_] | None = None,  # broadcastable to [..., Tq, Tk], True = visible
    dropout: float = 0.0,
    training: bool = False,
    rng: PCG32 | None = None,
) -> tuple[Tensor, Tensor]:
    """Return (output [..., Tq, Dv], weights [..., Tq, Tk])."""
    raise NotImplementedError("scaled_dot_product_attention is not written yet")
