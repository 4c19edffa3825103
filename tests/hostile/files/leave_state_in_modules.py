# verdict: AC; runs: 2
"""Leaves a mark in every module it can reach, and looks for an earlier one.

Right answers each time. A process is never used for a second submission.
"""

import builtins
import gc
import sys

for name, module in list(sys.modules.items()):
    if "left_behind" in getattr(module, "__dict__", {}):
        raise RuntimeError(f"an earlier run left a mark in {name}")
for module in list(sys.modules.values()):
    try:
        module.left_behind = True
    except (AttributeError, TypeError):
        pass
builtins.left_behind = True
gc.freeze()


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
