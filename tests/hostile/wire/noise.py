# verdict: OLE, RE
"""Sends a megabyte of noise."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, os.urandom(1 << 20))
    return query, None
