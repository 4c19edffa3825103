# verdict: TLE
"""Interrupts itself a thousand times a second while it computes for ever."""

import signal

signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        pass
