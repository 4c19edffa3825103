# verdict: RE
"""Raises ten thousand errors at once, each caused by the next, the last by the first."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    errors = [ValueError(number) for number in range(10_000)]
    for error, cause in zip(errors, errors[1:] + errors[:1], strict=True):
        error.__cause__ = cause
    raise ExceptionGroup("all of them", errors)
