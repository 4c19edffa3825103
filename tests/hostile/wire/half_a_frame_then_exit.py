# verdict: RE
"""Sends half a frame and leaves."""

import os
import struct


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", 1000, 1000) + b"\x85")
    os._exit(0)
