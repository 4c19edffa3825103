"""Multi-head attention: several attentions side by side, each in a slice of the features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tinyllm import PCG32, Linear, Module, Tensor
from tinyllm.xfmr.attention import scaled_dot_product_attention


class MultiHeadAttention(Module):
    """Attention in `n_heads` heads of width dh = d_model / n_heads, with four projections.

    One module serves self-attention (pass the same sequence twice) and cross-attention. Raises
    ValueError for sizes and shapes that do not fit, TypeError for a mask that is not boolean.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        rng: PCG32 | None = None,
    ) -> None:
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must tile d_model, but {n_heads} does not divide {d_model}")
        self.d_model = d_model
        self.n_heads = n_heads
        self.dropout = dropout
        # One generator for all four: with one each they would start with equal numbers.
        rng = PCG32(0).substream("init") if rng is None else rng
        self.q_proj = Linear(d_model, d_model, bias=bias, rng=rng)
        self.k_proj = Linear(d_model, d_model, bias=bias, rng=rng)
        self.v_proj = Linear(d_model, d_model, bias=bias, rng=rng)
        self.out_proj = Linear(d_model, d_model, bias=bias, rng=rng)
        self.dropout_rng = PCG32(0).substream("dropout")

    def split_heads(self, x: Tensor) -> Tensor:
        """[B, T, d] -> [B, H, T, dh]: head h takes the features [h*dh, (h+1)*dh)."""
        self._require_sequence(x, "x")
        batch, length, width = x.shape
        return x.reshape(batch, length, self.n_heads, width // self.n_heads).transpose(0, 2, 1, 3)

    def merge_heads(self, x: Tensor) -> Tensor:
        """[B, H, T, dh] -> [B, T, d]: the heads side by side, head 0 first."""
        wanted = (self.n_heads, self.d_model // self.n_heads)
        if x.ndim != 4 or (x.shape[1], x.shape[3]) != wanted:
            raise ValueError(f"x must be [B, {wanted[0]}, T, {wanted[1]}], but it is {x.shape}")
        batch, _, length, _ = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, length, self.d_model)

    def head_mask(
        self, mask: ArrayLike | None, B: int, Tq: int, Tk: int
    ) -> NDArray[np.bool_] | None:
        """The mask in a form that numpy expands to [B, H, Tq, Tk]; True means visible."""
        if mask is None:
            return None
        visible = np.asarray(mask)
        if visible.dtype != np.bool_:
            raise TypeError(f"mask must be boolean, but its dtype is {visible.dtype}")
        if visible.ndim == 3:
            # Numpy lines axes up from the right, so B would come to lie on the heads.
            visible = visible[:, np.newaxis]
        wanted = (B, self.n_heads, Tq, Tk)
        pairs = zip(reversed(visible.shape), reversed(wanted), strict=False)
        if visible.ndim > 4 or any(have not in (1, want) for have, want in pairs):
            raise ValueError(f"mask of shape {np.shape(mask)} does not expand to {wanted}")
        return visible

    def attend(
        self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None
    ) -> tuple[Tensor, Tensor]:
        """Output [B, Tq, d] and weights [B, H, Tq, Tk], one matrix for each head."""
        self._require_sequence(x_q, "x_q")
        self._require_sequence(x_kv, "x_kv")
        if x_q.shape[0] != x_kv.shape[0]:
            raise ValueError(f"x_q has {x_q.shape[0]} sequences, but x_kv has {x_kv.shape[0]}")
        visible = self.head_mask(mask, x_q.shape[0], x_q.shape[1], x_kv.shape[1])
        q = self.split_heads(self.q_proj(x_q))
        k = self.split_heads(self.k_proj(x_kv))
        v = self.split_heads(self.v_proj(x_kv))
        heads, weights = scaled_dot_product_attention(
            q,
            k,
            v,
            visible,
            dropout=self.dropout,
            training=self.training,
            rng=self.dropout_rng,
        )
        return self.out_proj(self.merge_heads(heads)), weights

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: ArrayLike | None = None) -> Tensor:
        """The output of `attend` alone, [B, Tq, d]."""
        output, _ = self.attend(x_q, x_kv, mask)
        return output

    def load_packed_in_proj(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None:
        """Take over torch's packed projection: rows q, k, v of weight [3d, d] and bias [3d].

        Without `bias`, biases stay as they are. Nothing is changed when something does not fit.
        """
        weight, d = np.asarray(weight), self.d_model
        if weight.shape != (3 * d, d):
            raise ValueError(f"weight must be {(3 * d, d)}, but it is {weight.shape}")
        if bias is not None and self.q_proj.bias is None:
            raise ValueError("bias was passed to a module that was made without biases")
        if bias is not None and np.shape(bias) != (3 * d,):
            raise ValueError(f"bias must be {(3 * d,)}, but it is {np.shape(bias)}")
        for part, projection in enumerate((self.q_proj, self.k_proj, self.v_proj)):
            rows = slice(part * d, (part + 1) * d)
            projection.weight.data[...] = weight[rows]
            if bias is not None:
                projection.bias.data[...] = np.asarray(bias)[rows]

    def _require_sequence(self, x: Tensor, name: str) -> None:
        if x.ndim != 3 or x.shape[2] != self.d_model:
            raise ValueError(f"{name} must be [B, T, {self.d_model}], but it is {x.shape}")
