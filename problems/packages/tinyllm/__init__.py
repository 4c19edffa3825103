"""A small library for building language models on numpy alone.

`Tensor` differentiates, `Module` holds `Parameter`s, `Linear` is a first layer, `PCG32` draws
random numbers that are the same everywhere, `gradcheck` compares gradients with differences.
Everything is written to be read: start with `tinyllm.tensor`.
"""

from tinyllm.linear import Linear
from tinyllm.module import Module, Parameter
from tinyllm.num import gradcheck
from tinyllm.pcg import PCG32
from tinyllm.tensor import Tensor, concat, no_grad, where

__all__ = [
    "PCG32",
    "Linear",
    "Module",
    "Parameter",
    "Tensor",
    "concat",
    "gradcheck",
    "no_grad",
    "where",
]
