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
        # One product for all three projections, cut into pieces afterwards.
        layers = self.q_proj, self.k_proj, self.v_proj
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        qkv = torch.nn.functional.linear(x, weight, bias)
        q, k, v = (
            torch.stack(part.chunk(self.num_heads, dim=-1), dim=1) for part in qkv.chunk(3, dim=-1)
        )
        scores = torch.matmul(q * self.d_head**-0.5, k.mT)
        if causal:
            scores = scores + torch.full(scores.shape[-2:], float("-inf"), dtype=x.dtype).triu(1)
        attention = scores.softmax(-1) @ v
        return self.out_proj(torch.cat(attention.unbind(1), dim=-1))
