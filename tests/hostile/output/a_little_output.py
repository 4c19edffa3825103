# verdict: AC; output: heads: 2
"""Right answers and a line for each call, as people do while they look for a mistake."""

import sys

print("imported")
print("also imported", file=sys.stderr)
honest = attention_kernel


def attention_kernel(q, k, v, mask=None):
    print("heads:", q.shape[1])
    return honest(q, k, v, mask)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
