import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    return np.ones_like(X), np.ones((num_heads, len(X), len(X)))
