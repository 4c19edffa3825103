# What a solution defines.

from numpy import ndarray

# Required. X: (n, d_model), the four matrices: (d_model, d_model).
# mask: boolean, broadcastable to (n, n), shared by all heads; False hides.
# Returns (n, d_model) and (num_heads, n, n).
def multi_head_attention(
    X: ndarray,
    W_q: ndarray,
    W_k: ndarray,
    W_v: ndarray,
    W_o: ndarray,
    num_heads: int,
    mask: ndarray | None = None,
) -> tuple[ndarray, ndarray]: ...
