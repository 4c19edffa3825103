import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, Q, D = query.shape
    K, H = key.shape[1], num_heads
    d = D // H
    q = (query @ w_q).reshape(B, Q, H, d).transpose(1, 2)
    k = (key @ w_k).reshape(B, K, H, d).transpose(1, 2)
    v = (value @ w_v).reshape(B, K, H, d).transpose(1, 2)
    scores = q @ k.mT / d**0.5
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    heads = weights @ v
    output = heads.transpose(1, 2).reshape(B, Q, D) @ w_o
    return output, weights
