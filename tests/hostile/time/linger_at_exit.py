# verdict: AC
"""Right answers, but it asks to run for an hour more when it is told to leave.

Nothing waits for it: once the last check is done it is killed.
"""

import atexit
import threading
import time

atexit.register(time.sleep, 3600)
threading.Thread(target=time.sleep, args=(3600,)).start()


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
