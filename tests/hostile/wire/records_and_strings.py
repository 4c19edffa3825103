# verdict: RE
"""Returns arrays of records, of text and of dates: numbers in disguise."""

import numpy as np


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    record = np.zeros(3, dtype=[("x", "f8"), ("y", "O")])
    return record, np.array(["1.0", "2.0"]), np.array(["2020-01-01"], dtype="datetime64[D]")
