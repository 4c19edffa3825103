# verdict: AC
"""Right answers, after trying to become another user, root first of all."""

import os

for change in (os.setuid, os.setgid, os.seteuid, os.setegid):
    try:
        change(0)
    except OSError:
        continue
    raise RuntimeError(f"{change.__name__}(0) was allowed")
try:
    os.setgroups([0])
except OSError:
    pass
else:
    raise RuntimeError("setgroups was allowed")
if 0 in (*os.getresuid(), *os.getresgid()):
    raise RuntimeError("it runs as root")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
