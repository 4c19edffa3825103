"""Multi-head self-attention over one sequence: project, split, attend, merge, project back."""

import numpy as np


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(n, d_model) -> (H, n, d): head h takes the columns [h*d, (h+1)*d)."""
    n, d_model = x.shape
    return x.reshape(n, num_heads, d_model // num_heads).transpose(1, 0, 2)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """(H, n, d) -> (n, d_model): the heads side by side, in order."""
    num_heads, n, d = x.shape
    return x.transpose(1, 0, 2).reshape(n, num_heads * d)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Over the last axis; every row has a finite score."""
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def multi_head_attention(
    X: np.ndarray,
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    W_o: np.ndarray,
    num_heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Output (n, d_model) and weights (num_heads, n, n)."""
    q = split_heads(X @ W_q, num_heads)
    k = split_heads(X @ W_k, num_heads)
    v = split_heads(X @ W_v, num_heads)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)  # exp(-inf) is exactly zero
    weights = softmax(scores)
    return merge_heads(weights @ v) @ W_o, weights
