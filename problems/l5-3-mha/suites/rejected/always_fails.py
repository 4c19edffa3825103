# Fails on every implementation, the right ones included: proves nothing and is refused.
from tinyllm.xfmr.mha import MultiHeadAttention


def test_module_has_no_parameters():
    assert MultiHeadAttention(8, 2).state_dict() == {}
