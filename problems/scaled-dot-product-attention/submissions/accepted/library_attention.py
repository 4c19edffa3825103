import torch
import torch.nn.functional as F

# The library does the work; the weights come back as values that are unit vectors.


def attention_kernel(q, k, v, mask=None):
    alive = torch.ones(1, dtype=torch.bool)
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
        alive = mask.any(dim=-1, keepdim=True)
        mask = mask | ~alive
    unit = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(q, k, unit, mask) * alive
    return weights @ v, weights
