# verdict: RE; message: GeneratorExit
"""Raises what generators and context managers treat as their own end."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    raise GeneratorExit
