# verdict: RE
"""Raises from a stack of nine hundred frames, each in a file that it names itself."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return deeper(900)


def deeper(left):
    if left:
        return deeper(left - 1)
    source = "raise ValueError('deep')"
    exec(compile("\n" * 10**5 + source, "/etc/passwd", "exec"))
