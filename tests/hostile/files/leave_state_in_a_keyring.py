# verdict: AC; runs: 2
"""Leaves a mark in each of the kernel's keyrings, and looks for an earlier one."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
add, request = {"x86_64": (248, 249), "aarch64": (217, 218)}[os.uname().machine]

if libc.syscall(request, b"user", b"left", None, 0) >= 0:
    raise RuntimeError("an earlier run left a key")
for ring in range(-1, -6, -1):
    if libc.syscall(add, b"user", b"left", b"mark", 4, ring) >= 0:
        raise RuntimeError(f"a key was left in keyring {ring}")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
