import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    width = X.shape[1]
    d = width // num_heads
    q, k, v = (
        np.einsum("nD,hdD->hnd", X, W.reshape(num_heads, d, width)) for W in (W_q, W_k, W_v)
    )
    scores = np.einsum("hid,hjd->hij", q, k) / d**0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights @ v).transpose(1, 0, 2).reshape(X.shape) @ W_o, weights
