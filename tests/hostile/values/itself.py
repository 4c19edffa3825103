# verdict: RE
"""Returns the function, its module and its frame."""

import sys


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return multi_head_attention, sys.modules[__name__], sys._getframe()
