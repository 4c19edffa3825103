import torch


@torch.no_grad()
def attention_kernel(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, torch.finfo(q.dtype).min).softmax(-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
