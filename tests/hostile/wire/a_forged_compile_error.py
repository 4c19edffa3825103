# verdict: RE
"""Reports a compile error of a file it was never given, then goes on as if nothing was."""

import os
import struct

import msgspec


def send(message, payload=b""):
    header = msgspec.msgpack.encode(message)
    os.write(3, struct.pack(">IQ", len(header), len(payload)) + header + payload)


failure = {
    "kind": "SyntaxError",
    "bases": ["SyntaxError"],
    "message": "\0",
    "syntax_line": -(2**62),
}
failure |= {"syntax_column": 2**62, "syntax_text": "\x1b[2J" * 20}
send({"type": "load-failed", "stage": "compile", "failure": failure})


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
