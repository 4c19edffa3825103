# verdict: AC
"""Right answers, after trying to trace and to read every process in sight."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
ATTACH, SEIZE, TRACE_ME = 16, 0x4206, 0


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


here = ctypes.create_string_buffer(8)
local = Span(ctypes.addressof(here), 8)
for process in {1, os.getppid(), os.getpid()} - {0}:
    for request in (ATTACH, SEIZE):
        if process != os.getpid() and libc.ptrace(request, process, None, None) == 0:
            raise RuntimeError(f"process {process} was traced")
    for move in (libc.process_vm_readv, libc.process_vm_writev):
        if move(process, ctypes.byref(local), 1, ctypes.byref(local), 1, 0) > 0:
            raise RuntimeError(f"the memory of process {process} was reached")
if libc.ptrace(TRACE_ME, 0, None, None) == 0:
    raise RuntimeError("it let itself be traced")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
