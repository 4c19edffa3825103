import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, causal=False):
        """One head at a time, straight from the formula."""
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        found = []
        for h in range(self.num_heads):
            own = slice(h * self.d_head, (h + 1) * self.d_head)
            scores = q[..., own] @ k[..., own].transpose(1, 2) / math.sqrt(self.d_head)
            if causal:
                for i in range(scores.shape[1]):
                    scores[:, i, i + 1 :] = -math.inf
            found.append(torch.softmax(scores, dim=2) @ v[..., own])
        return self.out_proj(torch.cat(found, dim=2))
