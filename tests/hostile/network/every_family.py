# verdict: AC
"""Right answers, after asking for a socket of every family and kind there is.

Raw, netlink, vsock, the kernel's own cryptography and the local ones among them: none is given.
"""

import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
for family in range(1, 50):
    for kind in (1, 2, 3, 4, 5, 10):
        if libc.socket(family, kind, 0) >= 0:
            raise RuntimeError(f"a socket of family {family}, kind {kind} was given")
        if ctypes.get_errno() not in (errno.EPERM, errno.EACCES):
            raise RuntimeError(f"family {family}, kind {kind}: refused with {ctypes.get_errno()}")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
