# verdict: MLE
"""Takes memory and writes to it until the kernel objects.

The student's process must die of it, never the zygote beside it.
"""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))
