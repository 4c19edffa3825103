# verdict: AC
"""Right answers if no secret is in the environment, its own or that of a process above."""

import os
import re

PATTERN = re.compile(rb"PLANTED-SECRET-[0-9a-f]{32}")
SENSITIVE = ("SECRET", "TOKEN", "PASSWORD", "DATABASE", "DOCKER", "AWS", "KEY")

texts = [b"\0".join(key + b"=" + value for key, value in os.environb.items())]
for process in ("self", "1", str(os.getppid())):
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            texts.append(file.read())
    except OSError:
        continue
for text in texts:
    if PATTERN.search(text):
        raise RuntimeError(f"found {PATTERN.search(text).group()!r}")
for name in os.environ:
    if any(word in name.upper() for word in SENSITIVE):
        raise RuntimeError(f"the environment has {name}={os.environ[name]}")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
