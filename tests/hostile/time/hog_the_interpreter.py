# verdict: TLE
"""Background threads that never give the interpreter away, so the answer never gets out."""

import sys
import threading

sys.setswitchinterval(1e6)


def hog():
    while True:
        pass


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    for _ in range(4):
        threading.Thread(target=hog, daemon=True).start()
    return query, None
