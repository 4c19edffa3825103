"""T1: the numbers agree with complex numbers in plain Python, and with a matrix exponential."""

from __future__ import annotations

import math

import torch
from oracle import FUNCTION, answer, assert_agrees, expected, frequency

from judge.checks import Rng, Submission, assert_close, check


@check(
    kind="unit",
    why="Two arrows that can be drawn show which way, how far and which features.",
)
def test_two_arrows(submission: Submission) -> None:
    """At position 1, width 4, (1, 0, 1, 0) becomes (cos 1, sin 1, cos 0.01, sin 0.01)."""
    x = torch.tensor([[1.0, 0.0, 1.0, 0.0]], dtype=torch.float64)
    right = [math.cos(1.0), math.sin(1.0), math.cos(0.01), math.sin(0.01)]
    found = answer(submission, x, torch.tensor([1]))
    assert_close(found, torch.tensor([right], dtype=torch.float64))


@check(
    kind="oracle",
    why="While three tokens are off, nothing that is built on them is right.",
)
def test_small_case(submission: Submission, rng: Rng) -> None:
    """Three tokens of four features, at positions 0, 1 and 2, agree with complex numbers."""
    x = rng.normal(3, 4)
    assert_close(submission.rotary_embedding(x), expected(x))


@check(
    kind="oracle",
    why="With a cache, the next token is alone in its tensor and far from position 0.",
)
def test_given_positions(submission: Submission, rng: Rng) -> None:
    """The numbers agree at given positions: one late token, and several in any order."""
    start = rng.integer(20, 90)
    assert_agrees(submission, rng.normal(1, 8), torch.tensor([start]), where=" of one late token")
    assert_agrees(submission, rng.normal(7, 8), start + rng.permutation(7), where=" in any order")


@check(
    kind="oracle",
    why="Sequences and heads do not know of each other: each begins at position 0.",
)
def test_batch_and_heads(submission: Submission, rng: Rng) -> None:
    """The numbers agree for [B, T, d] and for [B, H, T, d], also where B, H and T are equal."""
    for shape in [(3, 4, 6), (2, 3, 5, 8), (4, 4, 4, 4)]:
        x = rng.normal(*shape)
        assert_close(submission.rotary_embedding(x), expected(x), f"the output for {list(shape)}")


@check(
    kind="oracle",
    why="Models for long texts take a larger base, so that their slow pairs turn even slower.",
)
def test_other_bases(submission: Submission, rng: Rng) -> None:
    """The numbers agree for other bases, such as 500000."""
    x = rng.normal(2, 6, 10)
    for base in (500000.0, 100.0, rng.integer(2, 50) + 0.5):
        assert_agrees(submission, x, None, base, f" with base {base:g}")
    found = submission.rotary_embedding(x, base=500000.0)
    assert_close(found, expected(x, None, 500000.0), "the output with `base` alone")


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """The numbers agree for sizes that are drawn anew for each submission."""
    batch, tokens, pairs = rng.integer(2, 5), rng.integer(9, 20), rng.integer(6, 20)
    assert_agrees(submission, rng.normal(batch, tokens, 2 * pairs))


@check(
    kind="oracle",
    why="Models are trained in float32; the same formula has to hold in its precision.",
)
def test_float32(submission: Submission, rng: Rng) -> None:
    """The numbers of four tokens agree in float32, within its precision."""
    # Half as large as elsewhere: where the two products nearly cancel, their rounding is all that
    # is left, and the limit there is an absolute one.
    assert_agrees(submission, rng.normal(3, 4, 16, std=0.5, dtype=torch.float32))


@check(
    kind="differential",
    why="The paper writes it as a matrix, and two ways to the same numbers keep each other honest.",
)
def test_matrix_of_the_paper(submission: Submission, rng: Rng) -> None:
    """Position m multiplies by the m-th power of one block-diagonal rotation matrix."""
    x = rng.normal(6, 8)
    turn = torch.linalg.matrix_exp(_generator(8))
    right = [torch.linalg.matrix_power(turn, place) @ vector for place, vector in enumerate(x)]
    observation = submission.observe(FUNCTION, x)
    assert_close(observation.value, torch.stack(right))


def _generator(width: int) -> torch.Tensor:
    """[d, d]: the matrix whose exponential turns each pair by its frequency."""
    matrix = torch.zeros(width, width, dtype=torch.float64)
    for pair in range(width // 2):
        matrix[2 * pair + 1, 2 * pair] = frequency(pair, width)
        matrix[2 * pair, 2 * pair + 1] = -frequency(pair, width)
    return matrix
