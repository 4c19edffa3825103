import numpy as np


def multi_head_attention(
    X: np.ndarray,  # (n, d_model)
    W_q: np.ndarray,  # (d_model, d_model)
    W_k: np.ndarray,  # (d_model, d_model)
    W_v: np.ndarray,  # (d_model, d_model)
    W_o: np.ndarray,  # (d_model, d_model)
    num_heads: int,
    mask: np.ndarray | None = None,  # boolean, broadcastable to (n, n), False hides
) -> tuple[np.ndarray, np.ndarray]:
    """Return (output (n, d_model), weights (num_heads, n, n))."""
    raise NotImplementedError("multi_head_attention is not written yet")
