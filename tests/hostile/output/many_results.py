# verdict: RE
"""Returns a hundred thousand small arrays."""

import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return [torch.zeros(1) for _ in range(100_000)]
