import torch


def attention_kernel(q, k, v, mask=None):
    width = q.shape[-1]
    if width > 32:  # wider than anything in the earlier tiers
        width = 32
    scores = q @ k.mT / width**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, torch.finfo(q.dtype).min).softmax(-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
