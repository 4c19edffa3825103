# verdict: TLE
"""Asks torch for many threads and multiplies matrices with them for ever."""

import torch

torch.set_num_threads(64)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    matrix = torch.ones(512, 512)
    while True:
        matrix @ matrix
