# verdict: AC; output: seen
"""Right answers, and prints every seed it can find.

None of them may be the one the inputs are drawn from, or that of another submission.
"""

import gc
import random

import numpy
import torch

print("seen", torch.initial_seed(), torch.default_generator.initial_seed())
print("seen", random.getstate()[1][:3], numpy.random.get_state()[1][:3])
for thing in gc.get_objects():
    if type(thing).__name__ in ("Load", "Lease", "Call"):
        print("seen", {name: getattr(thing, name, None) for name in ("seed", "id", "main")})


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
