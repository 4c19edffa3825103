import torch


def attention_kernel(q, k, v, mask=None):
    batch, heads, queries, width = q.shape
    q = q.view(batch * heads, queries, width)
    k = k.view(batch * heads, -1, width)
    scores = (q @ k.mT / width**0.5).view(batch, heads, queries, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(q.dtype).min)
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
