# verdict: OLE
"""Announces a payload of 2^63 bytes: refused before anything is allocated for it."""

import os
import struct
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", 16, 1 << 63))
    time.sleep(3600)
