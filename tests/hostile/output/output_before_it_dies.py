# verdict: RE; message: SIGKILL; output: last words
"""Writes, then dies: what was written before is still shown."""

import os
import signal


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    print("last words", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
