"""Your own tests of tinyllm.xfmr.mha. More files may stand beside this one: tests/test_*.py.

They must pass on every right implementation and fail on the wrong ones. Rung R5 means oracles:

- attend, written again in float64 numpy from the module's own state_dict: output and weights, for
  self-attention, for cross-attention, and for a mask [B, Tq, Tk] with B = H
- the worked numbers
- split and merge
- dropout in eval
- the packed order
- a gradient check in float64, with tinyllm's gradcheck
"""

import numpy as np
from tinyllm import PCG32, Tensor
from tinyllm.xfmr.mha import MultiHeadAttention


def test_output_has_the_length_of_x_q():
    module = MultiHeadAttention(8, 2, rng=PCG32(1)).eval()
    x_q, x_kv = Tensor(np.ones((2, 3, 8))), Tensor(np.ones((2, 5, 8)))
    assert module(x_q, x_kv).shape == (2, 3, 8)
