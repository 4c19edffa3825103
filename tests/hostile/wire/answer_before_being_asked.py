# verdict: RE
"""Answers ten calls that nobody has made yet, while it is being imported."""

import os
import struct

import msgspec


def send(message, payload=b""):
    header = msgspec.msgpack.encode(message)
    os.write(3, struct.pack(">IQ", len(header), len(payload)) + header + payload)


send({"type": "loaded", "names": ["multi_head_attention"]})
for number in range(10):
    send({"type": "returned", "id": number, "value": None, "arrays": [], "changed": []})


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
