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
        B, T, D = x.shape
        shape = (B, T, self.num_heads, self.d_head)
        q = (x @ self.q_proj.weight.T).view(shape).transpose(1, 2)
        k = (x @ self.k_proj.weight.T).view(shape).transpose(1, 2)
        v = (x @ self.v_proj.weight.T).view(shape).transpose(1, 2)
        heads = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return heads.transpose(1, 2).reshape(B, T, D) @ self.out_proj.weight.T
