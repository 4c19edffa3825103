# What a solution defines.

from torch import Tensor, nn

# The constructor is written in the starter; you write forward.
# x: (B, T, d_model), the result has the same shape and dtype.
# causal: with True, a token sees itself and the tokens before it.
class MultiHeadAttention(nn.Module):
    d_model: int
    num_heads: int
    d_head: int  # d_model // num_heads
    q_proj: nn.Linear
    k_proj: nn.Linear
    v_proj: nn.Linear
    out_proj: nn.Linear

    def __init__(self, d_model: int, num_heads: int) -> None: ...
    def forward(self, x: Tensor, causal: bool = False) -> Tensor: ...
