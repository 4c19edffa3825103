import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, Q, D = query.shape
    K, H = key.shape[1], num_heads
    d = D // H
    q = (query.view(B * Q, D) @ w_q).view(B, Q, H, d).transpose(1, 2)
    k = (key.view(B * K, D) @ w_k).view(B, K, H, d).transpose(1, 2)
    v = (value.view(B * K, D) @ w_v).view(B, K, H, d).transpose(1, 2)
    heads, weights = attention_kernel(q, k, v, mask)
    output = heads.transpose(1, 2).reshape(B, Q, D) @ w_o
    return output, weights
