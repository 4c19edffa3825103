# What tinyllm/xfmr/attention.py defines.

import numpy as np
from numpy.typing import NDArray
from tinyllm import PCG32, Tensor

# Required. q: [..., Tq, d], k: [..., Tk, d], v: [..., Tk, Dv], mask: broadcastable to
# [..., Tq, Tk]. Returns [..., Tq, Dv] and [..., Tq, Tk].
def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: NDArray[np.bool_] | None = None,
    dropout: float = 0.0,
    training: bool = False,
    rng: PCG32 | None = None,
) -> tuple[Tensor, Tensor]: ...
