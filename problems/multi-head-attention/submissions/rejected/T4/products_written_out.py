import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    # Every product of a query's and a key's feature, [B, H, Q, K, d], before they are summed.
    B, Q, D = query.shape
    K, H = key.shape[1], num_heads
    d = D // H
    q = (query @ w_q).reshape(B, Q, H, d).transpose(1, 2)
    k = (key @ w_k).reshape(B, K, H, d).transpose(1, 2)
    v = (value @ w_v).reshape(B, K, H, d).transpose(1, 2)
    scores = (q[:, :, :, None] * k[:, :, None]).sum(dim=-1) / d**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    output = (weights @ v).transpose(1, 2).reshape(B, Q, D) @ w_o
    return output, weights
