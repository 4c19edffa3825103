# verdict: MLE, RE
"""Fills memory that is shared rather than private; it counts as well."""

import mmap


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    kept = []
    while True:
        block = mmap.mmap(-1, 1 << 24, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        block.write(b"x" * (1 << 24))
        kept.append(block)
