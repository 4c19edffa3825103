# verdict: AC; needs: nested
"""Right answers if /proc shows the processor and the memory, and nothing else."""

import os

shown = set(os.listdir("/proc"))
if not shown <= {"cpuinfo", "meminfo"}:
    raise RuntimeError(f"/proc shows {sorted(shown)}")
for path in ("/proc/self", "/proc/1", "/proc/sys", "/proc/thread-self", "/proc/sysrq-trigger"):
    if os.path.lexists(path):
        raise RuntimeError(f"{path} exists")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
