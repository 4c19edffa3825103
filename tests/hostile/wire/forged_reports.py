# verdict: RE
"""Claims to be the zygote: says that it was granted, and how it ended."""

import os
import struct

import msgspec


def send(message, payload=b""):
    header = msgspec.msgpack.encode(message)
    os.write(3, struct.pack(">IQ", len(header), len(payload)) + header + payload)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    send({"type": "granted", "box": "runner"})
    send(
        {
            "type": "report",
            "ended": "killed",
            "code": 0,
            "signal": 0,
            "output": b"",
            "output_truncated": False,
            "cpu_ms": 0.0,
            "peak_memory_bytes": 0,
        }
    )
    return query, None
