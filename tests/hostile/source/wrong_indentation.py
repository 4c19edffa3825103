# verdict: CE; message: line 6
"""Does not compile for its indentation."""

def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    scores = query @ w_q
  return scores
