# verdict: RE
"""Returns fifty megabytes of text."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return "x" * (50 << 20), None
