# verdict: TLE; tier: T2
"""Right answers whose backward pass never returns: gradients have the same deadline."""

import time

import torch


class Asleep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(3600)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return Asleep.apply(mixed.transpose(1, 2).flatten(2) @ w_o), weights
