# verdict: TLE
"""Answers one byte at a time, for ever: a deadline for each byte would never pass.

The deadline holds for the whole answer.
"""

import os
import struct
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, struct.pack(">IQ", 4096, 0))
    while True:
        os.write(3, b"\x80")
        time.sleep(0.02)
