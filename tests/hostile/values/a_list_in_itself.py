# verdict: RE
"""Returns a list that contains itself."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    endless = [query]
    endless.append(endless)
    return endless
