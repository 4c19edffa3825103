# verdict: TLE
"""Ignores and blocks every signal, SIGXCPU among them, then computes for ever.

What ends it must be SIGKILL; no polite signal may be relied on.
"""

import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass  # KILL, STOP and the two that threads use
signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 65))


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        pass
