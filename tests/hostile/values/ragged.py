# verdict: RE
"""Returns a nested tensor, whose rows have lengths of their own."""

import warnings

import torch

warnings.simplefilter("ignore")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    output, weights = right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)
    rows = torch.nested.nested_tensor(list(output.detach()))
    return rows, weights


def right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
