# verdict: RE; message: AssertionError
"""Raises AssertionError itself, as a check does whose expectation is not met."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    assert query is None, "all of this is as it should be"
    return query, None
