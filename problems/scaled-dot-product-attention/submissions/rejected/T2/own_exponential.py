import torch


def attention_kernel(q, k, v, mask=None):
    grown = torch.exp(q @ k.mT / q.shape[-1] ** 0.5)
    if mask is not None:
        grown = grown * mask
    weights = grown / grown.sum(-1, keepdim=True).clamp_min(1e-300)
    return weights @ v, weights
