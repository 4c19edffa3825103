# verdict: WA, RE
"""Returns text and a dict in place of arrays, made of the same."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return {"\x1b[2J\x00\ud800": "\x1b[2J\x00\ud800\u202e<script>"}, "\udfff" * 100
