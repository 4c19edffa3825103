"""Scaled dot-product attention: scores, scale, mask, softmax, weighted average."""

import math

import torch


def attention_kernel(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output [B, H, Q, Dv] and weights [B, H, Q, K]; rows that see nothing are zero."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
    hidden = ~mask
    lowest = torch.finfo(scores.dtype).min  # finite: a row that is hidden as a whole stays a number
    weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    return weights @ v, weights
