# What a solution defines, and what is defined for it.

from torch import Tensor

# Provided, read-only. q: [B, H, Q, d], k: [B, H, K, d], v: [B, H, K, Dv].
# Returns [B, H, Q, Dv] and [B, H, Q, K].
def attention_kernel(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]: ...

# Required. query: [B, Q, D], key and value: [B, K, D], the four matrices: [D, D].
# Returns [B, Q, D] and [B, H, Q, K].
def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    num_heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
