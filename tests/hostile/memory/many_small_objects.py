# verdict: MLE
"""Takes memory in small pieces, so that the last straw is anything at all."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    kept = []
    while True:
        kept.append({len(kept): object()})
