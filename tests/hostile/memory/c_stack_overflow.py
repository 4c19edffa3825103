# verdict: RE; message: SIGSEGV
"""Lifts Python's limit and recurses through C until the stack is used up.

The verdict names the signal, which is all that is left to know.
"""

import sys

sys.setrecursionlimit(2**31 - 1)


class Deep:
    def __repr__(self):
        return repr([self])


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return repr(Deep())
