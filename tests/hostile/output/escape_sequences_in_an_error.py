# verdict: RE
"""Raises an error that carries the same in its text, its name and its notes."""

TEXT = "\x1b[2J\x00\x9b31m \ud800 \u202e <script>alert(1)</script>\r\x07"


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    error = type("\x1b[31m<b>Error</b>\u202e", (ValueError,), {})(TEXT)
    error.add_note(TEXT)
    raise error from Exception(TEXT)
