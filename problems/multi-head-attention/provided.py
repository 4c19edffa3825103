"""Already defined for the solution; read-only."""

import math

import torch


def attention_kernel(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention, for every leading index on its own.

    q: [B, H, Q, d], k: [B, H, K, d], v: [B, H, K, Dv]
    mask: boolean, broadcastable to [B, H, Q, K]; True means visible

    Returns the output [B, H, Q, Dv] and the weights [B, H, Q, K]. The visible weights of a row
    total one; a row that sees nothing has weights and output zero, and finite gradients.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        hidden = ~mask
        lowest = torch.finfo(scores.dtype).min  # finite, so that no row becomes NaN
        weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1)
        weights = weights.masked_fill(hidden, 0.0)
    return weights @ v, weights
