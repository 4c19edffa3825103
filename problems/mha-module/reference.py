"""Multi-head self-attention as a module: the heads are one more batch axis."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Self-attention with `num_heads` heads of width d = d_model / num_heads.

    Raises AssertionError when the heads do not divide `d_model`.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x: torch.Tensor, causal: bool = False) -> torch.Tensor:
        """(B, T, d_model) to (B, T, d_model); with `causal`, no token sees a later one."""
        B, T, _ = x.shape
        H, d = self.num_heads, self.d_head
        q = self.q_proj(x).view(B, T, H, d).transpose(1, 2)  # (B, H, T, d)
        k = self.k_proj(x).view(B, T, H, d).transpose(1, 2)
        v = self.v_proj(x).view(B, T, H, d).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)  # (B, H, T, T)
        if causal:
            future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
            scores = scores.masked_fill(future, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        heads = weights @ v  # (B, H, T, d)
        merged = heads.transpose(1, 2).contiguous().view(B, T, self.d_model)
        return self.out_proj(merged)
