# verdict: RE
"""Returns a dict whose keys are tensors, numbers and tuples."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return {query: 1, 2: 3, (4, 5): query, None: None}
