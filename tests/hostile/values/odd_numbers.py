# verdict: RE
"""Returns numbers that formats for data disagree about."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return [float("nan"), float("inf"), -0.0, 5e-324, complex("nan+infj"), True, 2**63, 2**64]
