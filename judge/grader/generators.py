"""The global generators of random numbers, where code and its checks share a process.

In a runner code has generators of its own, with a seed of its own. So it has here: else it would
draw what its checks left, and checks that draw from a global generator, which is another one with
every start of the judge, would not be told from those that do not.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from judge.checks.local import LocalSubmission
from sandbox.arrays import Subject


@dataclass(frozen=True)
class Generators:
    """How far the generators of torch, numpy and `random` are."""

    torchs: torch.Tensor
    numpys: Any
    pythons: Any

    @classmethod
    def now(cls) -> Generators:
        """Their state."""
        return cls(torch.get_rng_state(), np.random.get_state(), random.getstate())

    def restore(self) -> None:
        """Set them back, or forth."""
        torch.set_rng_state(self.torchs)
        np.random.set_state(self.numpys)
        random.setstate(self.pythons)


class Apart(LocalSubmission):
    """Code whose generators go on where importing it left them, whatever its checks draw."""

    def __init__(self, names: Mapping[str, object], sources: Mapping[str, bytes]) -> None:
        super().__init__(names, sources)
        self._own = Generators.now()

    def call(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Any:
        """With its own generators."""
        others = Generators.now()
        self._own.restore()
        try:
            return super().call(name, args, kwargs, subject)
        finally:
            self._own = Generators.now()
            others.restore()
