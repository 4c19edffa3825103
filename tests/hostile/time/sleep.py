# verdict: TLE
"""Never answers, and uses no CPU time either: only a wall clock outside notices."""

import time


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    time.sleep(3600)
