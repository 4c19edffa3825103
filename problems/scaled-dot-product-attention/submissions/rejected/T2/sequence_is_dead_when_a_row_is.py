import torch


def attention_kernel(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~mask, torch.finfo(q.dtype).min).softmax(-1)
        weights = weights.masked_fill(~mask, 0.0)
    if mask is not None:
        alive = mask.expand(weights.shape).any(-1).all(-1)[..., None, None]
        weights = weights * alive
    return weights @ v, weights
