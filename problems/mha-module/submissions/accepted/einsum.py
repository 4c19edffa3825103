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
        heads = (self.num_heads, self.d_head)
        q, k, v = (p(x).unflatten(-1, heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * self.d_head**-0.5
        if causal:
            visible = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            scores = torch.where(visible, scores, -torch.inf)
        out = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)
        return self.out_proj(out.flatten(-2))
