from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor


def _softmax(scores: Tensor, visible: Tensor | None) -> Tensor:
    if visible is None:
        return F.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    top = scores.masked_fill(~visible, lowest).amax(dim=-1, keepdim=True).detach()
    # Hidden scores are replaced before exp, so that neither result nor gradient overflows.
    grown = torch.exp((scores - top).masked_fill(~visible, 0.0)) * visible
    total = grown.sum(dim=-1, keepdim=True)
    return grown / torch.where(total > 0, total, torch.ones_like(total))


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
) -> tuple[Tensor, Tensor]:
    b, n, width = query.shape
    m = key.shape[1]
    d = width // num_heads
    q = (query @ w_q).view(b, n, num_heads, d).permute(0, 2, 1, 3)
    k = (key @ w_k).view(b, m, num_heads, d).permute(0, 2, 3, 1)
    v = (value @ w_v).view(b, m, num_heads, d).permute(0, 2, 1, 3)
    weights = _softmax(torch.matmul(q, k) / sqrt(d), mask)
    mixed = torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous().view(b, n, width)
    return torch.matmul(mixed, w_o), weights
