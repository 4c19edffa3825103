# verdict: AC
"""Right answers, after trying to copy the open descriptors of other processes."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
PIDFD_OPEN, PIDFD_GETFD = 434, 438
for process in {1, os.getppid()} - {0}:
    handle = libc.syscall(PIDFD_OPEN, process, 0)
    for number in range(64 if handle >= 0 else 0):
        if libc.syscall(PIDFD_GETFD, handle, number, 0) >= 0:
            raise RuntimeError(f"descriptor {number} of process {process} was copied")
    if handle >= 0:
        os.close(handle)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
