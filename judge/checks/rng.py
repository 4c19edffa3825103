"""Random inputs for a check, replayable from one number."""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import torch


class Rng:
    """Draws from a generator of its own, seeded by the submission's seed and the check's name.

    torch's and numpy's global generators are neither read nor touched: in a forked process they
    are the same for everybody. Arrays are torch tensors on the CPU.
    """

    def __init__(self, seed: int, check: str) -> None:
        digest = hashlib.blake2b(f"{seed}:{check}".encode(), digest_size=8).digest()
        self._entropy = int.from_bytes(digest, "big")

    @cached_property
    def generator(self) -> torch.Generator:
        """The torch generator behind every draw but `numpy`'s."""
        return torch.Generator().manual_seed(self._entropy >> 1)

    @cached_property
    def numpy(self) -> np.random.Generator:
        """A numpy generator, independent of `generator`."""
        return np.random.Generator(np.random.PCG64(self._entropy))

    def normal(
        self,
        *shape: int,
        std: float = 1.0,
        dtype: torch.dtype = torch.float64,
        requires_grad: bool = False,
    ) -> torch.Tensor:
        """Normal numbers of mean zero, as a leaf tensor of `shape`."""
        drawn = torch.randn(shape, generator=self.generator, dtype=dtype)
        if std != 1.0:
            drawn.mul_(std)
        return drawn.requires_grad_(requires_grad)

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float64
    ) -> torch.Tensor:
        """Uniform numbers in [low, high)."""
        return torch.rand(shape, generator=self.generator, dtype=dtype).mul_(high - low).add_(low)

    def visible(self, *shape: int, p: float = 0.7) -> torch.Tensor:
        """A boolean mask, True with probability `p`.

        Along the last axis every row hides something and shows two entries at least, as far as it
        has so many (what alone is shown takes all the weight, whatever its score): so that no draw
        is without effect and none asks for a row without keys.
        """
        drawn = torch.rand(shape, generator=self.generator)
        mask = drawn < p
        if shape[-1] > 1:
            mask.scatter_(-1, drawn.argmax(dim=-1, keepdim=True), False)
        shown = drawn.topk(min(2, max(shape[-1] - 1, 1)), dim=-1, largest=False).indices
        return mask.scatter_(-1, shown, True)

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high), as in `range`."""
        return int(torch.randint(low, high, (), generator=self.generator))

    def permutation(self, n: int) -> torch.Tensor:
        """The numbers 0 to n - 1 in random order, int64; for n > 1 never in their own order."""
        drawn = torch.randperm(n, generator=self.generator)
        return drawn.roll(1) if torch.equal(drawn, torch.arange(n)) else drawn
