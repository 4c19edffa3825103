# verdict: AC; runs: 2
"""Breaks torch and numpy for everybody after it, once its own answers are made.

Right answers each time; the control right after it needs torch whole.
"""

import atexit

import numpy
import torch


@atexit.register
def destroy():
    for library in (torch, numpy):
        for name in dir(library):
            try:
                setattr(library, name, None)
            except (AttributeError, TypeError):
                pass


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
