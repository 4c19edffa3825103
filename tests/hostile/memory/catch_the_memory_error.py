# verdict: MLE, AC
"""Takes all memory, catches the error and then answers rightly.

Where the kernel counts, there is no error to catch. Where the address space is limited, the
answer may be as good as any.
"""

try:
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))
except MemoryError:
    kept = []


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
