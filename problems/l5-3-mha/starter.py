"""Multi-head attention (L5.3): tinyllm/xfmr/mha.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tinyllm import PCG32, Linear, Module, Tensor
from tinyllm.xfmr.attention import scaled_dot_product_attention


class MultiHeadAttention(Module):
    """Attention in `n_heads` heads of width dh = d_model / n_heads, with four projections."""

    q_proj: Linear
    k_proj: Linear
    v_proj: Linear
    out_proj: Linear

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        rng: PCG32 | None = None,
    ) -> None:
        """Make q_proj, k_proj, v_proj and out_proj, in this order and from one rng.

        Without an rng: PCG32(0).substream("init"). Dropout draws from
        PCG32(0).substream("dropout"). Raises ValueError unless n_heads tiles d_model.
        """

    def split_heads(self, x: Tensor) -> Tensor:
        """[B, T, d] -> [B, H, T, dh]: head h takes the features [h*dh, (h+1)*dh)."""

    def merge_heads(self, x: Tensor) -> Tensor:
        """[B, H, T, dh] -> [B, T, d]: undoes split_heads."""

    def head_mask(
        self, mask: ArrayLike | None, B: int, Tq: int, Tk: int
    ) -> NDArray[np.bool_] | None:
        """The mask in a form that numpy expands to [B, H, Tq, Tk]; None stays None.

        True means visible. Rank 3 always means [B, Tq, Tk]. Raises TypeError for a mask that is
        not boolean, ValueError for a shape that does not fit.
        """

    def attend(
        self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None
    ) -> tuple[Tensor, Tensor]:
        """Output [B, Tq, d] and weights [B, H, Tq, Tk], one matrix for each head."""

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None) -> Tensor:
        """The output of attend alone, [B, Tq, d]."""

    def load_packed_in_proj(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None:
        """Take over torch's packed projection: rows q, k, v of weight [3d, d] and bias [3d]."""
