# verdict: AC, MLE
"""Right answers that keep eight megabytes of each call."""

kept = []
honest = attention_kernel


def attention_kernel(q, k, v, mask=None):
    kept.append(b"x" * (8 << 20))
    return honest(q, k, v, mask)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
