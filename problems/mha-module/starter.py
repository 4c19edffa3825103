import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Self-attention with `num_heads` heads of width d_head = d_model / num_heads."""

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
        raise NotImplementedError("forward is not written yet")
