# verdict: AC
"""Right answers, after looking for the judge and a secret of it in every imported module."""

import linecache
import re
import sys


PATTERN = re.compile(rb"PLANTED-SECRET-[0-9a-f]{32}")


def look_at(value, where):
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape") if value.isascii() else b""
    if isinstance(value, (bytes, bytearray)) and PATTERN.search(value):
        raise RuntimeError(f"{where} holds {PATTERN.search(value).group()!r}")


for name, module in list(sys.modules.items()):
    if name.split(".")[0] in ("judge", "problems"):
        raise RuntimeError(f"{name} is imported here")
    for attribute, value in list(getattr(module, "__dict__", {}).items()):
        look_at(value, f"{name}.{attribute}")
        if isinstance(value, dict):
            for inner in list(value.values()):
                look_at(inner, f"{name}.{attribute}")
for file, entry in linecache.cache.items():
    look_at("".join(entry[2]) if len(entry) > 1 else "", file)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
