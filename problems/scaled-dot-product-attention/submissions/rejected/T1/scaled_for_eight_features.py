import torch


def attention_kernel(q, k, v, mask=None):
    scores = q @ k.mT / 8**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(q.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
