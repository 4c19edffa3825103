# verdict: RE, OLE, WA, TLE
"""Sends empty and urgent data on the connection, which streams may treat apart."""

import socket


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    connection = socket.socket(fileno=3)
    connection.send(b"")
    try:
        connection.send(b"!", socket.MSG_OOB)
    except OSError:
        connection.send(b"\xff" * 12)
    connection.detach()
    return query, None
