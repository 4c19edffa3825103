import torch


def attention_kernel(q, k, v, mask=None):
    best = (q @ k.mT).argmax(-1)
    weights = torch.nn.functional.one_hot(best, k.shape[-2]).to(q.dtype)
    return weights @ v, weights
