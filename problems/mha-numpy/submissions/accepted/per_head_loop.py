import numpy as np


def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """One head at a time, straight from the formula."""
    n, d_model = X.shape
    d = d_model // num_heads
    outputs, maps = [], []
    for h in range(num_heads):
        own = slice(h * d, (h + 1) * d)
        q, k, v = X @ W_q[:, own], X @ W_k[:, own], X @ W_v[:, own]
        scores = q @ k.T / d**0.5
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=1, keepdims=True)
        outputs.append(weights @ v)
        maps.append(weights)
    return np.concatenate(outputs, axis=1) @ W_o, np.stack(maps)
