# verdict: OLE
"""Writes for ever to both descriptors in turn, in small pieces."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        os.write(1, b"out\n")
        os.write(2, b"err\n")
