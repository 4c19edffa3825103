# verdict: WA
"""Returns text that no encoding for storage takes."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return "\ud800", "\0"
