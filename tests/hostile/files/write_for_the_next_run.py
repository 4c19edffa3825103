# verdict: AC; runs: 2
"""Writes files that Python, numpy, torch or pytest would pick up in the next run.

Right answers in each run; the second one looks for what the first one left. Most places are
read-only, the others are private and end with the process.
"""

import os
import sys

POISON = "import os; os._exit(66)  # left-by-an-earlier-run\n"
NAMES = (
    "torch.py", "numpy.py", "solution.py", "sitecustomize.py", "usercustomize.py", "conftest.py",
    "left.pth", "pytest.ini", "attention_kernel.py", ".left-behind",
)  # fmt: skip
FOLDERS = {
    *sys.path, "/", ".", "/tmp", "/dev/shm", "/var/tmp", "/run", "/run/judge", "/etc", "/root",
    "/home", os.path.expanduser("~"), "/dev/mqueue", "/dev", "/usr/lib/python3/dist-packages",
    os.path.dirname(os.__file__), os.path.dirname(sys.modules["torch"].__file__),
}  # fmt: skip

PATHS = [os.path.join(folder or ".", name) for folder in FOLDERS for name in NAMES]
for path in PATHS:
    try:
        with open(path) as file:
            if "left-by-an-earlier-run" in file.read():
                raise RuntimeError(f"{path} was left by an earlier run")
    except OSError:
        continue
for path in PATHS:
    try:
        with open(path, "x") as file:
            file.write(POISON)
    except OSError:
        continue


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
