import torch


def attention_kernel(q, k, v, mask=None):
    weights = torch.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2], dtype=q.dtype)
    return weights @ v, weights
