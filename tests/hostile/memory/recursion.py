# verdict: RE; message: RecursionError
"""Calls itself without end: Python's own limit stops it."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)
