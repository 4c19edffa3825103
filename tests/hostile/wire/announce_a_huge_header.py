# verdict: OLE
"""Announces a header of four gigabytes."""

import os
import struct
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", (1 << 32) - 1, 0))
    time.sleep(3600)
