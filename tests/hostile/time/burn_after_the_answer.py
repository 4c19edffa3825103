# verdict: AC, TLE
"""Right answers, while threads that it leaves behind keep computing.

They end with the submission, and the next one has the machine for itself.
"""

import hashlib
import threading


def burn():
    data = bytes(1 << 20)
    while True:
        hashlib.sha256(data)


for _ in range(8):
    threading.Thread(target=burn, daemon=True).start()


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
