# verdict: TLE
"""Sends three of the twelve bytes a frame begins with, and then waits."""

import os
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.write(3, b"\0\0\0")
    time.sleep(3600)
