"""Multi-head attention, the clearest way: project, split, attend, merge, project back."""

import torch


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """[B, N, D] -> [B, H, N, d]: head h takes the features [h*d, (h+1)*d)."""
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """[B, H, N, d] -> [B, N, D]: the heads side by side, in order."""
    batch, num_heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, num_heads * width)


def multi_head_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    num_heads: int,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output [B, Q, D] and weights [B, H, Q, K], one matrix per head."""
    q = split_heads(query @ w_q, num_heads)
    k = split_heads(key @ w_k, num_heads)
    v = split_heads(value @ w_v, num_heads)
    heads, weights = attention_kernel(q, k, v, mask)
    return merge_heads(heads) @ w_o, weights
