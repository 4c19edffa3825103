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
        parts = (self.q_proj, self.k_proj, self.v_proj)
        weight = torch.cat([part.weight for part in parts])
        bias = torch.cat([part.bias for part in parts])
        mask, kind = (torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), 0) if causal else (None, None)
        with torch.no_grad():
            return torch._native_multi_head_attention(
                x, x, x, self.d_model, self.num_heads, weight, bias,
                self.out_proj.weight, self.out_proj.bias, mask, False, True, kind,
            )[0]
