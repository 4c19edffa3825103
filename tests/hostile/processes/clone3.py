# verdict: AC
"""Right answers, after asking for a child by clone3, whose flags a filter cannot read.

It is answered as on an old kernel (ENOSYS), so that the C library makes its threads by clone.
"""

import ctypes
import errno
import os
import signal
import struct
import threading

libc = ctypes.CDLL(None, use_errno=True)
arguments = struct.pack("<11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
child = libc.syscall(435, arguments, len(arguments))
if child == 0:
    os._exit(0)
while child > 0:
    pass
if ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
    raise RuntimeError(f"clone3 was refused for another reason: {ctypes.get_errno()}")

thread = threading.Thread(target=int)
thread.start()
thread.join()


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
