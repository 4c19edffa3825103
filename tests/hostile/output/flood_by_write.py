# verdict: OLE
"""Writes a gigabyte to descriptor 2, past Python's own files."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    block = b"x" * (1 << 16)
    for _ in range(1 << 14):
        os.write(2, block)
