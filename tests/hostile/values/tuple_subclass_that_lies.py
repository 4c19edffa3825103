# verdict: RE
"""Returns a tuple that has another length, and other entries, each time it is asked."""


class Lying(tuple):
    def __len__(self):
        return 2

    def __iter__(self):
        yield from [None] * 5000

    def __getitem__(self, index):
        raise SystemExit


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return Lying((query, query))
