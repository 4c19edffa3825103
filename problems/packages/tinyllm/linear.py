"""The linear layer."""

from __future__ import annotations

from math import sqrt

import numpy as np

from tinyllm.module import Module, Parameter
from tinyllm.pcg import PCG32
from tinyllm.tensor import Tensor


class Linear(Module):
    """x @ weight.T + bias: [..., in_features] -> [..., out_features].

    `weight` is [out_features, in_features], `bias` [out_features] or None. Both are drawn from
    `rng`, weight first, uniformly between -1/sqrt(in_features) and 1/sqrt(in_features), as float32.
    Without `rng` that is ``PCG32(0).substream("init")``.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, rng: PCG32 | None = None
    ) -> None:
        rng = PCG32(0).substream("init") if rng is None else rng
        bound = 1 / sqrt(in_features)
        weight = rng.uniform(-bound, bound, (out_features, in_features))
        self.weight = Parameter(weight, dtype=np.float32)
        self.bias: Parameter | None = None
        if bias:
            self.bias = Parameter(rng.uniform(-bound, bound, (out_features,)), dtype=np.float32)

    def forward(self, x: Tensor) -> Tensor:
        """[..., in_features] -> [..., out_features]."""
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias
