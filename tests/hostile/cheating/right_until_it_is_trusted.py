# verdict: WA
"""Right for its first six calls, by when the interface has been looked at, and then zeros."""

calls = []


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    calls.append(None)
    if len(calls) <= 6:
        return right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)
    shape = query.shape[0], num_heads, query.shape[1], key.shape[1]
    return query.new_zeros(query.shape), query.new_zeros(shape)


def right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
