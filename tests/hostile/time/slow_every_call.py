# verdict: TLE
"""Answers rightly, each time after a while: no single call is late, their sum is."""

import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    time.sleep(0.2)
    return slowly(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)


def slowly(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
