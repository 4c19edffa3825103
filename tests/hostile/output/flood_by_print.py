# verdict: OLE
"""Prints a gigabyte."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    line = "x" * 4095
    for _ in range(1 << 18):
        print(line)
