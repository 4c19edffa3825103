"""The output alone."""

import math


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.0, training=False, rng=None):
    return (q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])).softmax() @ v
