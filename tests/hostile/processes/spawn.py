# verdict: RE; message: PermissionError
"""Starts a program by posix_spawn, which clones and executes in one step."""

import os
import sys


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ)
