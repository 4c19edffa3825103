# verdict: RE
"""Answers a call by saying that it has been imported."""

import os
import struct

import msgspec


def send(message, payload=b""):
    header = msgspec.msgpack.encode(message)
    os.write(3, struct.pack(">IQ", len(header), len(payload)) + header + payload)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    send({"type": "loaded", "names": ["multi_head_attention"]})
    return query, None
