import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """-inf as in the textbooks, with the rows that see nothing replaced before and after."""
    B, Q, D = query.shape
    K, H = key.shape[1], num_heads
    q = (query @ w_q).reshape(B, Q, H, D // H).transpose(1, 2)
    k = (key @ w_k).reshape(B, K, H, D // H).transpose(1, 2)
    v = (value @ w_v).reshape(B, K, H, D // H).transpose(1, 2)
    scores = (q @ k.mT) * (D // H) ** -0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        alive = mask.any(-1, keepdim=True)
        # First where: no row is all -inf, so softmax makes no NaN, forwards or backwards.
        safe = torch.where(alive, torch.where(mask, scores, -torch.inf), torch.zeros_like(scores))
        # Second where: rows that see nothing are zero, and cut from the graph.
        weights = torch.where(alive, safe.softmax(-1), torch.zeros_like(scores))
    return (weights @ v).transpose(1, 2).flatten(2) @ w_o, weights
