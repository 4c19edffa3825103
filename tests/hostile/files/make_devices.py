# verdict: AC
"""Right answers, after trying to make device files for disks and for kernel memory."""

import os
import stat

for kind, major, minor in ((stat.S_IFBLK, 8, 0), (stat.S_IFBLK, 253, 0), (stat.S_IFCHR, 1, 1)):
    path = f"/tmp/device-{major}-{minor}"
    try:
        os.mknod(path, kind | 0o600, os.makedev(major, minor))
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        continue
    raise RuntimeError(f"device {major}:{minor} was opened")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
