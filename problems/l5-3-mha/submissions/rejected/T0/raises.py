class MultiHeadAttention:
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, rng=None):
        raise NotImplementedError("not written yet")
