# verdict: AC
"""Right answers, after looking for a secret of the judge in every object the collector knows."""

import gc
import re


PATTERN = re.compile(rb"PLANTED-SECRET-[0-9a-f]{32}")


def look_at(value, where):
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape") if value.isascii() else b""
    if isinstance(value, (bytes, bytearray)) and PATTERN.search(value):
        raise RuntimeError(f"{where} holds {PATTERN.search(value).group()!r}")


gc.unfreeze()
for thing in gc.get_objects():
    kind = type(thing)
    if kind is dict:
        for key, value in list(thing.items()):
            look_at(key, "a dict")
            look_at(value, "a dict")
    elif kind in (list, tuple, set, frozenset):
        for value in list(thing):
            look_at(value, "a collection")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
