import torch


def attention_kernel(q, k, v, mask=None):
    with torch.no_grad():
        q.mul_(q.shape[-1] ** -0.5)
    q = q * 1.0
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(q.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
