# verdict: AC
"""Right answers if the process can never gain privileges and is filtered for good."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
GET_SECCOMP, SET_SECCOMP, SET_NO_NEW, GET_NO_NEW = 21, 22, 38, 39
seccomp = {"x86_64": 317, "aarch64": 277}[os.uname().machine]

if libc.prctl(GET_NO_NEW, 0, 0, 0, 0) == 0:  # it may also not be told
    raise RuntimeError("no_new_privs is off")
if libc.prctl(SET_NO_NEW, 0, 0, 0, 0) == 0:
    raise RuntimeError("no_new_privs was switched off")
if libc.prctl(GET_SECCOMP, 0, 0, 0, 0) not in (2, -1):
    raise RuntimeError("no filter is in force")
# A filter of its own could turn a refusal into a lie: a program of one instruction, "allow".
instruction = ctypes.create_string_buffer(b"\x06\0\0\0\0\0\xff\x7f", 8)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


program = Program(1, ctypes.addressof(instruction))
if libc.prctl(SET_SECCOMP, 2, ctypes.byref(program), 0, 0) == 0:
    raise RuntimeError("a filter was installed by prctl")
if libc.syscall(seccomp, 1, 0, ctypes.byref(program)) == 0:
    raise RuntimeError("a filter was installed by seccomp")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
