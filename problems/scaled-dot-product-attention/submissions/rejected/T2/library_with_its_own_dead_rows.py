import torch
from torch.nn.functional import scaled_dot_product_attention


def attention_kernel(q, k, v, mask=None):
    bias = None
    if mask is not None:
        bias = torch.zeros(1, 1, 1, 1, dtype=q.dtype).masked_fill(~mask, -1e30)
        bias = bias.expand(*q.shape[:-1], k.shape[-2])
    unit = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], -1)
    output = scaled_dot_product_attention(q, k, v, bias)
    return output, scaled_dot_product_attention(q, k, unit, bias)
