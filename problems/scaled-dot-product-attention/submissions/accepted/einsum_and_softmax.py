import torch


def attention_kernel(q, k, v, mask=None):
    logits = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
    if mask is None:
        weights = logits.softmax(-1)
    else:
        # Filled with -inf as in the textbooks. A fill passes no gradient to what it overwrites, so
        # the NaN of a row that sees nothing ends at the two fills, on the way back too.
        weights = logits.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
    return torch.einsum("bhqk,bhkv->bhqv", weights, v), weights
