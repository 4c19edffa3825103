# verdict: TLE
"""Raises an error whose text never ends being computed.

Reading the text of an error runs the submission's code, so it happens here, under the deadline.
"""


class Endless(Exception):
    def __str__(self):
        while True:
            pass

    __repr__ = __str__


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    raise Endless
