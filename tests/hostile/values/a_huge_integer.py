# verdict: RE
"""Returns an integer of a hundred thousand digits."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return 1 << 400_000, -(1 << 63) - 1
