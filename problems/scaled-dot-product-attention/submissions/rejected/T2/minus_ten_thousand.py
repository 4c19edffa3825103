import torch


def attention_kernel(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    weights = scores.softmax(-1)
    return weights @ v, weights
