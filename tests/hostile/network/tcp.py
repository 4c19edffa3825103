# verdict: RE; message: PermissionError
"""Connects to a public address: refused at once, before any packet and any waiting."""

import socket


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    socket.create_connection(("1.1.1.1", 80), timeout=60)
