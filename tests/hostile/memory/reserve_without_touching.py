# verdict: AC, RE, MLE
"""Right answers after a terabyte was reserved and never touched.

It costs nothing, so where memory is counted it is nobody's business; where the address space is
limited it is refused.
"""

import mmap

NO_RESERVE = 0x4000


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    reserved = mmap.mmap(-1, 1 << 40, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    reserved.close()

    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
