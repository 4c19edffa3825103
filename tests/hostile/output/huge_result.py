# verdict: OLE
"""Returns ninety megabytes: more than any result may have."""

import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return torch.zeros(90 << 20, dtype=torch.uint8), None
