# verdict: AC
"""Right answers if the descriptors are the allowed ones and no other.

0 is /dev/null, 1 and 2 are pipes to the init, 3 is the connection.
"""

import os
import stat

found = {}
for number in range(1 << 16):
    try:
        found[number] = os.fstat(number)
    except OSError:
        continue
if sorted(found) != [0, 1, 2, 3]:
    raise RuntimeError(f"descriptors {sorted(found)} are open")
null = os.stat("/dev/null")
if found[0].st_rdev != null.st_rdev or not stat.S_ISCHR(found[0].st_mode):
    raise RuntimeError("0 is not /dev/null")
if not (stat.S_ISFIFO(found[1].st_mode) and stat.S_ISFIFO(found[2].st_mode)):
    raise RuntimeError("1 and 2 are not pipes")
if not stat.S_ISSOCK(found[3].st_mode):
    raise RuntimeError("3 is not a socket")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
