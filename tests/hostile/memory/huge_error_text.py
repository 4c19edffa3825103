# verdict: RE
"""Raises an error with a text of fifty megabytes; two thousand characters cross."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    raise ValueError("x" * (50 << 20))
