# verdict: RE, MLE
"""Fills /dev/shm with one large file.

The folder is private and capped; what was written is given back with the process.
"""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    with open("/dev/shm/filled", "wb", buffering=0) as file:
        while file.write(b"x" * (1 << 20)):
            pass
