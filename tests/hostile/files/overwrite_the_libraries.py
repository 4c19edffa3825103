# verdict: AC; runs: 2
"""Right answers, after trying to change the files of Python and of the libraries in place."""

import os
import sys

FILES = [
    sys.executable,
    os.__file__,
    sys.modules["torch"].__file__,
    sys.modules["numpy"].__file__,
    "/etc/passwd",
    "/etc/ld.so.cache",
]
for path in FILES:
    for change in (
        lambda path: os.close(os.open(path, os.O_WRONLY)),
        lambda path: os.unlink(path),
        lambda path: os.rename(path, "/tmp/moved"),
        lambda path: os.chmod(path, 0o777),
        lambda path: os.utime(path, (0, 0)),
        lambda path: os.setxattr(path, "user.left", b"x"),
        lambda path: os.link(path, path + ".left"),
    ):
        try:
            change(path)
        except OSError:
            continue
        raise RuntimeError(f"{path} was changed")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
