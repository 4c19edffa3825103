# verdict: RE; message: SIGXCPU
"""Kills itself by the signal that a used-up CPU limit sends."""

import os
import signal


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.kill(os.getpid(), signal.SIGXCPU)
