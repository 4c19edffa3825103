# verdict: OLE
"""Several threads print without end while the call waits."""

import os
import threading
import time


def flood():
    while True:
        os.write(1, b"x" * (1 << 16))


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    for _ in range(4):
        threading.Thread(target=flood, daemon=True).start()
    time.sleep(3600)
