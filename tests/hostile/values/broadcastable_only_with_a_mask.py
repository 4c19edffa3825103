# verdict: WA
"""Right shapes without a mask, broadcastable ones with it, after the interface was looked at."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    output, weights = right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask)
    if mask is None:
        return output, weights
    return output.mean(1, keepdim=True), weights


def right(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
