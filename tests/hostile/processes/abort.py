# verdict: RE; message: SIGABRT
"""Aborts, as a failed assertion in C does."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.abort()
