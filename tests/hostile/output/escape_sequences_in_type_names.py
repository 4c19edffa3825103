# verdict: RE
"""Returns an object whose type is named by escape sequences."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return type("\x1b[2J<script>alert(1)</script>\u202e", (), {})()
