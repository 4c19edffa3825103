# verdict: RE, WA, OLE, TLE
"""Two threads answer the same call at the same time, their frames in each other."""

import os
import struct
import sys
import threading

import msgspec


def send(message, payload=b""):
    header = msgspec.msgpack.encode(message)
    os.write(3, struct.pack(">IQ", len(header), len(payload)) + header + payload)


def number_of_this_call():
    """The number the grader gave to the call in progress; it is in a frame above."""
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "Call":
                return value.id
        frame = frame.f_back
    return 1


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    message = {"type": "returned", "id": number_of_this_call(), "value": "x" * 999, "arrays": []}
    message["changed"] = []
    threads = [threading.Thread(target=send, args=(message,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    return query, None
