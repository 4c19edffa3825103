# verdict: AC
"""Right answers, after trying to get new namespaces, or those of other processes."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
NEW = {
    "time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000,
    "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
}  # fmt: skip
for name, flag in NEW.items():
    if libc.unshare(flag) == 0:
        raise RuntimeError(f"it got a new {name} namespace")
for process in (1, os.getppid()):
    for name in ("mnt", "pid", "net", "user", "ipc", "uts", "cgroup"):
        try:
            handle = os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(handle, 0) == 0:
            raise RuntimeError(f"it entered the {name} namespace of process {process}")
        os.close(handle)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
