# verdict: AC
"""Right answers, with standard files that are gone or raise whatever is asked of them."""

import sys


class Broken:
    def __getattr__(self, name):
        raise RuntimeError(name)


sys.stdout = Broken()
sys.stderr = Broken()
del sys.__stdout__


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
