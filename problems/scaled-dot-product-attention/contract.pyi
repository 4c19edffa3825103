# What a solution defines.

from torch import Tensor

# Required. q: [B, H, Q, d], k: [B, H, K, d], v: [B, H, K, Dv].
# mask: boolean, broadcastable to [B, H, Q, K], True means visible.
# Returns [B, H, Q, Dv] and [B, H, Q, K].
def attention_kernel(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]: ...
