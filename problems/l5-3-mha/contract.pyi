# The module tinyllm.xfmr.mha, as later chapters import it.

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tinyllm import PCG32, Linear, Module, Tensor

# B sequences, Tq queries, Tk keys, width d = d_model, H = n_heads, dh = d / H. Sizes and shapes
# that do not fit raise ValueError, a mask that is not boolean raises TypeError; the message names
# the argument.
class MultiHeadAttention(Module):
    # Each [d, d], with a bias [d] unless bias=False; in this order in state_dict.
    q_proj: Linear
    k_proj: Linear
    v_proj: Linear
    out_proj: Linear

    # n_heads divides d_model. The four projections are drawn from one rng, by default
    # PCG32(0).substream("init"); dropout from PCG32(0).substream("dropout"), in training only.
    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        rng: PCG32 | None = None,
    ) -> None: ...

    # [B, T, d] -> [B, H, T, dh]; head h owns the features [h*dh, (h+1)*dh).
    def split_heads(self, x: Tensor) -> Tensor: ...

    # [B, H, T, dh] -> [B, T, d]; undoes split_heads.
    def merge_heads(self, x: Tensor) -> Tensor: ...

    # mask: None, [Tq, Tk], [B, Tq, Tk] (rank 3 always means this) or what numpy expands to
    # [B, H, Tq, Tk]; boolean, True = visible. Returns None, or what numpy expands to
    # [B, H, Tq, Tk].
    def head_mask(
        self, mask: ArrayLike | None, B: int, Tq: int, Tk: int
    ) -> NDArray[np.bool_] | None: ...

    # x_q: [B, Tq, d], x_kv: [B, Tk, d]. Returns the output [B, Tq, d] and the weights
    # [B, H, Tq, Tk], those before dropout. A row that sees nothing has weights and context zero.
    def attend(
        self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None
    ) -> tuple[Tensor, Tensor]: ...

    # The output of attend alone. Calling the module calls this.
    def forward(self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None) -> Tensor: ...

    # weight: [3d, d] and bias: [3d], rows q, k, v. Without bias, biases stay as they are.
    def load_packed_in_proj(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None: ...
