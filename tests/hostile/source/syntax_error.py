# verdict: CE; message: line 7
"""Does not compile: the line and the column are named, and the line is shown."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    scores = query @ w_q
    return scores softmax(
