# verdict: TLE
"""Never answers: it computes for ever, in Python.

The deadline is the grader's, so nothing in this process needs to cooperate.
"""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    while True:
        pass
