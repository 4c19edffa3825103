import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    # Scores of every head with every other one, of which only the own ones are kept.
    B, Q, D = query.shape
    K, H = key.shape[1], num_heads
    d = D // H
    q = (query @ w_q).reshape(B, Q, H, d).transpose(1, 2)
    k = (key @ w_k).reshape(B, K, H, d).transpose(1, 2)
    v = (value @ w_v).reshape(B, K, H, d).transpose(1, 2)
    heads, weights = attention_kernel(q[:, :, None], k[:, None], v[:, None], _paired(mask))
    own = torch.arange(H)
    output = heads[:, own, own].transpose(1, 2).reshape(B, Q, D) @ w_o
    return output, weights[:, own, own]


def _paired(mask):
    if mask is None or mask.dim() < 3:
        return mask
    return mask[:, :, None]
