# verdict: RE; message: SIGKILL
"""Kills itself the way the kernel does when memory runs out. Nothing ran out: not MLE."""

import os
import signal


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.kill(os.getpid(), signal.SIGKILL)
