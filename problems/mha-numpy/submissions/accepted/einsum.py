import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    width = X.shape[1]
    d = width // num_heads
    q, k, v = (
        np.einsum("nD,Dhd->hnd", X, W.reshape(width, num_heads, d)) for W in (W_q, W_k, W_v)
    )
    scores = np.einsum("hid,hjd->hij", q, k) * d**-0.5
    visible = np.broadcast_to(True if mask is None else mask, scores.shape)
    top = np.max(scores, axis=2, keepdims=True, where=visible, initial=-np.inf)
    grown = np.exp(scores - top, where=visible, out=np.zeros_like(scores))
    weights = grown / grown.sum(axis=2, keepdims=True)
    return np.einsum("hij,hjd,hdD->iD", weights, v, W_o.reshape(num_heads, d, width)), weights
