"""What is right: a pair is a complex number, multiplied by a complex number of length one.

Plain Python, one pair at a time, with no torch in between; the reference never sees a complex
number.
"""

from __future__ import annotations

import cmath

import torch

from judge.checks import Submission, assert_array, assert_close, assert_unchanged

FUNCTION = "rotary_embedding"
BASE = 10000.0


def frequency(pair: int, width: int, base: float = BASE) -> float:
    """By how many radians a pair turns from one position to the next."""
    return float(base ** (-2.0 * pair / width))


def expected(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = BASE
) -> torch.Tensor:
    """The answer in float64."""
    if positions is None:
        positions = torch.arange(x.shape[-2])
    places = positions.double().expand(x.shape[:-1]).reshape(-1).tolist()
    vectors = x.detach().double().reshape(-1, x.shape[-1]).tolist()
    found = [_turned(vector, place, base) for vector, place in zip(vectors, places, strict=True)]
    return torch.tensor(found, dtype=torch.float64).reshape(x.shape)


def _turned(vector: list[float], place: float, base: float) -> list[float]:
    width, numbers = len(vector), []
    for pair in range(width // 2):
        turn = cmath.rect(1.0, place * frequency(pair, width, base))
        number = complex(vector[2 * pair], vector[2 * pair + 1]) * turn
        numbers += [number.real, number.imag]
    return numbers


def answer(
    submission: Submission,
    x: torch.Tensor,
    positions: torch.Tensor | None = None,
    base: float = BASE,
) -> torch.Tensor:
    """The submission's answer, once it has the right form and its arguments are as they were."""
    observation = submission.observe(FUNCTION, x, positions, base)
    assert_unchanged(observation)
    found: torch.Tensor = observation.value
    assert_array(found, shape=x.shape, dtype=x.dtype)
    return found


def assert_agrees(
    submission: Submission,
    x: torch.Tensor,
    positions: torch.Tensor | None = None,
    base: float = BASE,
    where: str = "",
) -> None:
    """The submission's answer is the oracle's, within the tolerance of the dtype of `x`."""
    found = answer(submission, x, positions, base)
    assert_close(found, expected(x, positions, base), f"the output{where}", dtype=x.dtype)
