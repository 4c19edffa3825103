# verdict: AC
"""Right answers, after looking for a secret of the judge in the memory around its own objects.

The zygote's memory is inherited by every submission, so no problem, seed or earlier submission
may ever have been in it.
"""

import ctypes
import re

PATTERN = re.compile(rb"PLANTED-SECRET-[0-9a-f]{32}")
PAGE, CHUNK = 4096, 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
present = ctypes.create_string_buffer(CHUNK // PAGE)


def search(start):
    if libc.mincore(ctypes.c_void_p(start), CHUNK, present) == 0:
        found = PATTERN.search(ctypes.string_at(start, CHUNK))
        if found:
            raise RuntimeError(f"memory holds {found.group()!r}")


marks = {id(object()), id([None] * 10**6), id(bytes(64)), id(PATTERN), id("x" * 5000), id(libc)}
starts = set()
for mark in marks:
    first = (mark - (32 << 20)) // CHUNK * CHUNK
    starts.update(range(max(first, 0), first + (64 << 20), CHUNK))
for start in sorted(starts):
    search(start)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
