# verdict: TLE
"""Announces the largest result that is allowed and sends nothing of it."""

import os
import struct
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", 16, 1 << 26))
    time.sleep(3600)
