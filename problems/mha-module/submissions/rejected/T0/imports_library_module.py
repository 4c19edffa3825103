import torch
from torch import nn
from torch.nn import MultiheadAttention as Attention


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
        layer = Attention(self.d_model, self.num_heads, batch_first=True, dtype=x.dtype)
        parts = (self.q_proj, self.k_proj, self.v_proj)
        own = {
            "in_proj_weight": torch.cat([part.weight for part in parts]),
            "in_proj_bias": torch.cat([part.bias for part in parts]),
            "out_proj.weight": self.out_proj.weight,
            "out_proj.bias": self.out_proj.bias,
        }
        blocked = torch.ones(x.shape[1], x.shape[1]).triu(1).bool() if causal else None
        return torch.func.functional_call(layer, own, (x, x, x), {"attn_mask": blocked})[0]
