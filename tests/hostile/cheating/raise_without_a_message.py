# verdict: RE
"""Raises an error whose every method raises."""


class Meta(type):
    __name__ = property(lambda cls: 1 / 0)

    def __instancecheck__(cls, other):
        raise SystemExit

    __subclasscheck__ = __instancecheck__


class Silent(Exception, metaclass=Meta):
    def __getattribute__(self, name):
        raise SystemExit

    def __str__(self):
        raise SystemExit

    __repr__ = __reduce__ = __str__


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    raise Silent
