"""Random numbers that are the same on every machine: the generator PCG32 (XSH RR 64/32).

Source: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
for Random Number Generation" (2014).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = int | Sequence[int]
Doubles = NDArray[np.float64]

_MULTIPLIER = 6364136223846793005
_MASK = 2**64 - 1


class PCG32:
    """A stream of 32-bit numbers, chosen by `seed` and `stream` (both are taken modulo 2**64).

    Every other draw is made from these, in C order and one (for `normal` two) for each entry: ten
    numbers at once are the same as four and then six.
    """

    def __init__(self, seed: int = 0, stream: int = 0) -> None:
        self.seed = seed
        self.stream = stream
        self._increment = (2 * stream + 1) & _MASK
        self._state = self._step(self._step(0) + seed)

    def next_u32(self) -> int:
        """A whole number in [0, 2**32)."""
        return int(self._draw(1)[0])

    def random(self, shape: Shape = ()) -> Doubles:
        """Numbers in [0, 1), float64: a 32-bit number divided by 2**32."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        return (self._draw(math.prod(sizes)) / 2.0**32).reshape(sizes)

    def uniform(self, low: float = 0.0, high: float = 1.0, shape: Shape = ()) -> Doubles:
        """Numbers in [low, high)."""
        return low + (high - low) * self.random(shape)

    def normal(self, shape: Shape = ()) -> Doubles:
        """Numbers of mean 0 and variance 1, by the method of Box and Muller."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        pairs = self.random((*sizes, 2))
        # 1 - u lies in (0, 1], where the logarithm is finite.
        radius = np.sqrt(-2 * np.log(1 - pairs[..., 0]))
        return np.asarray(radius * np.cos(2 * np.pi * pairs[..., 1]))

    def integers(self, low: int, high: int, shape: Shape = ()) -> NDArray[np.int64]:
        """Whole numbers in [low, high); raises ValueError when there is none.

        No number is more likely than another by more than a factor of 1 + (high - low) / 2**32.
        """
        if not 0 < high - low <= 2**32:
            raise ValueError(f"[{low}, {high}) holds no number, or more than 2**32")
        return low + (self.random(shape) * (high - low)).astype(np.int64)

    def substream(self, name: str) -> PCG32:
        """Another generator, chosen by this one's seed and stream and by `name`.

        What was drawn so far makes no difference, so that a new user of random numbers does not
        change those of the others.
        """
        chosen = hashlib.blake2b(f"{self.seed}/{self.stream}/{name}".encode(), digest_size=16)
        number = int.from_bytes(chosen.digest(), "little")
        return PCG32(number & _MASK, number >> 64)

    def _step(self, state: int) -> int:
        return (state * _MULTIPLIER + self._increment) & _MASK

    def _draw(self, count: int) -> NDArray[np.uint64]:
        """The next `count` numbers, all at once.

        n steps from state s lead to a**n * s + (1 + a + ... + a**(n-1)) * c modulo 2**64, where a
        multiplies and c is added; unsigned 64-bit arithmetic keeps exactly that remainder.
        """
        powers = np.cumprod(np.full(count, _MULTIPLIER, np.uint64))
        sums = np.cumsum(np.concatenate([np.ones(1, np.uint64), powers]))[:-1]
        later = powers * np.uint64(self._state) + sums * np.uint64(self._increment)
        states = np.concatenate([np.array([self._state], np.uint64), later])
        self._state = int(states[-1])
        return _output(states[:-1])


def _output(state: NDArray[np.uint64]) -> NDArray[Any]:
    """32 of the 64 bits, mixed and then rotated by what the five highest bits say."""
    mixed = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
    turn = state >> 59
    return ((mixed >> turn) | (mixed << ((32 - turn) & 31))) & 0xFFFFFFFF
