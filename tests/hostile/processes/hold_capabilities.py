# verdict: AC
"""Right answers if no capability is held, inheritable, bounded or ambient."""

import ctypes
import struct

libc = ctypes.CDLL(None, use_errno=True)
PR_CAPBSET_READ, PR_CAP_AMBIENT, IS_SET, RAISE = 23, 47, 1, 2
VERSION_3 = 0x20080522

header = struct.pack("<Ii", VERSION_3, 0)
held = ctypes.create_string_buffer(24)
if libc.capget(header, held) != 0:
    raise RuntimeError("capget does not answer")
if any(held.raw):
    raise RuntimeError(f"capabilities are held: {held.raw.hex()}")
for number in range(64):
    if libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) > 0:
        raise RuntimeError(f"capability {number} is in the bounding set")
    if libc.prctl(PR_CAP_AMBIENT, IS_SET, number, 0, 0) > 0:
        raise RuntimeError(f"capability {number} is ambient")
if libc.capset(header, struct.pack("<6I", *[0xFFFFFFFF] * 6)) == 0:
    raise RuntimeError("capabilities were taken")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
