# verdict: TLE
"""Sixty-four threads that compute outside the interpreter lock.

They must not slow the grader past its deadline, and must all be gone afterwards.
"""

import hashlib
import threading


def burn():
    data = bytes(1 << 20)
    while True:
        hashlib.sha256(data)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    threads = []
    for _ in range(64):
        thread = threading.Thread(target=burn, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break  # fewer burn as hot
        threads.append(thread)
    for thread in threads:
        thread.join()
