# verdict: MLE
"""Takes memory from several threads at once."""

import threading


def take():
    kept = []
    while True:
        kept.append(b"x" * (1 << 16))


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    for _ in range(4):
        threading.Thread(target=take).start()
    take()
