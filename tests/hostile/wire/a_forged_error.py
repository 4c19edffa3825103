# verdict: RE
"""Reports an error of the judge's own: a failed check, a skip, a broken judge.

Whatever it calls itself, it is an error that this code raised.
"""

import os
import struct
import sys

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
    bases = [
        "AssertionError",
        "CheckFailure",
        "Skipped",
        "JudgeError",
        "SystemExit",
        "BaseException",
    ]
    frame = {"file": "/etc/passwd", "line": 2**40, "function": "judge", "text": "\x1b[2J"}
    failure = {"kind": "JudgeError", "bases": bases, "message": "it is our fault: \x1b[2J\0"}
    failure["frames"] = [frame] * 32
    send({"type": "raised", "id": number_of_this_call(), "failure": failure})
    os._exit(0)
