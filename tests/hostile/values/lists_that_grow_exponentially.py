# verdict: WA, RE, OLE, TLE, MLE
"""Returns a few lists that hold each other so often that writing them down never ends."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    grown = [None] * 1000
    for _ in range(20):
        grown = [grown] * 1000
    return grown
