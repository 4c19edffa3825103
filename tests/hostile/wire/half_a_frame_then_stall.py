# verdict: TLE
"""Sends half a frame and then waits: the other half does not come."""

import os
import struct
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", 1000, 1000) + b"\x85")
    time.sleep(3600)
