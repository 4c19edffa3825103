# verdict: RE
"""Closes the connection and then waits for ever: nobody waits for it."""

import os
import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.close(3)
    time.sleep(3600)
