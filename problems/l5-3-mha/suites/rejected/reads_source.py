# Looks at how the code is written, not at what it does: refused before it runs.
import inspect

from tinyllm.xfmr.mha import MultiHeadAttention


def test_merge_transposes():
    assert "transpose" in inspect.getsource(MultiHeadAttention.merge_heads)


def test_training_flag_is_passed_on():
    assert "training" in MultiHeadAttention.attend.__code__.co_names
