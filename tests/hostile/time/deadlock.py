# verdict: TLE
"""Waits for a lock that it holds itself."""

import threading

lock = threading.Lock()


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    with lock:
        lock.acquire()
