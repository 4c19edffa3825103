# What a solution defines.

from torch import Tensor

# Required. x: [..., T, d] with an even d, one vector for each of T tokens.
# positions: one number for each vector, integers or floats of a shape that broadcasts to [..., T];
# without it the T tokens stand at 0, 1, ..., T - 1. base: what frequencies are powers of.
# Returns x with each pair of features (2i, 2i + 1) rotated: same shape, same dtype.
# Raises ValueError where d is odd.
def rotary_embedding(
    x: Tensor, positions: Tensor | None = None, base: float = 10000.0
) -> Tensor: ...
