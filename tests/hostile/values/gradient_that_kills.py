# verdict: RE; tier: T2; message: SIGKILL
"""Right numbers whose backward pass dies."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    output, weights = right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)
    if output.requires_grad:
        output.register_hook(lambda gradient: os.kill(os.getpid(), 9))
    return output * 1, weights


def right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
