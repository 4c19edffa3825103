# verdict: MLE
"""Fills one tensor of four gigabytes."""

import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return torch.ones(1 << 30, dtype=torch.float32), None
