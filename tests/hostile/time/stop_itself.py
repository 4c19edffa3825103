# verdict: TLE
"""Stops its own process, so that it can be neither answered by nor asked anything.

A stopped process must still be killed at the deadline: SIGKILL works on it.
"""

import os
import signal


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)
