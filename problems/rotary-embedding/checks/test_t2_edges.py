"""T2: what a rotation keeps, positions of every kind, precision, gradients, sizes and layouts."""

from __future__ import annotations

import torch
from oracle import answer, assert_agrees, expected

from judge.checks import Rng, Submission, assert_close, check, fail, gradients


@check(
    kind="property",
    why="This is what it is for: attention sees how far apart two tokens are, and not where.",
)
def test_only_the_distance_matters(submission: Submission, rng: Rng) -> None:
    """Dot products of queries and keys stay the same when all positions grow by one number."""
    query, key, places = rng.normal(2, 5, 8), rng.normal(2, 5, 8), torch.arange(5)
    here = _scores(submission, query, key, places)
    there = _scores(submission, query, key, places + rng.integer(50, 500))
    assert_close(there, here, "the dot products further along")
    right = expected(query) @ expected(key).mT
    assert_close(here, right, "the dot products")


def _scores(
    submission: Submission, query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor
) -> torch.Tensor:
    turned = answer(submission, query, positions), answer(submission, key, positions)
    return turned[0] @ turned[1].mT


@check(
    kind="property",
    why="A rotation changes directions only, so scores do not grow with the text.",
)
def test_lengths_stay(submission: Submission, rng: Rng) -> None:
    """Each pair keeps its length, and at position 0 nothing changes at all."""
    x = rng.normal(4, 6, 8)
    found = answer(submission, x)
    lengths = [tensor.unflatten(-1, (4, 2)).norm(dim=-1) for tensor in (found, x)]
    assert_close(lengths[0], lengths[1], "the length of each pair")
    assert_close(found[:, 0], x[:, 0], "the output at position 0")


@check(
    kind="property",
    why="A cache can be moved: keys that were rotated once can be rotated on, or back.",
)
def test_rotations_add_up(submission: Submission, rng: Rng) -> None:
    """Rotating to position m and then by n is rotating to m + n, and by -m it is undone."""
    x, places, more = rng.normal(6, 8), rng.permutation(6) + 1, rng.permutation(6)
    once = answer(submission, x, places)
    on, back = answer(submission, once, more), answer(submission, once, -places)
    assert_close(on, expected(x, places + more), "the output rotated on")
    assert_close(back, x, "the output rotated back")


@check(
    kind="edge",
    why="Texts that are padded on the left do not begin at the same column.",
)
def test_positions_of_each_sequence(submission: Submission, rng: Rng) -> None:
    """Positions of shape [B, 1, T], [B, H, T], [H, 1], [1] and [B, T] go to their tokens."""
    x = rng.normal(2, 3, 5, 8)
    for shape in [(2, 1, 5), (2, 3, 5), (3, 1), (1,)]:
        places = rng.uniform(*shape, high=40.0).round().long()
        assert_agrees(submission, x, places, where=f" for positions of shape {list(shape)}")
    square = rng.normal(4, 4, 8)
    places = rng.uniform(4, 4, high=40.0).round().long()
    assert_agrees(submission, square, places, where=" for positions of shape [4, 4]")


@check(
    kind="edge",
    why="A text longer than those of the training is squeezed between known positions.",
)
def test_positions_that_are_not_whole(submission: Submission, rng: Rng) -> None:
    """Fractions and negative numbers are positions like all others."""
    x = rng.normal(6, 8)
    assert_agrees(submission, x, torch.arange(6) / 4, where=" at quarters")
    assert_agrees(submission, x, rng.uniform(6, low=-9.0, high=9.0), where=" at fractions")
    assert_agrees(submission, x, -1 - rng.permutation(6), where=" at negative positions")


@check(
    kind="edge",
    why="Contexts of a million tokens exist, and a float32 angle is off by hundredths there.",
)
def test_far_positions(submission: Submission, rng: Rng) -> None:
    """In float32 the numbers are as right at position 1000000 as at position 1."""
    x = rng.normal(4, 16, std=0.5, dtype=torch.float32)
    assert_agrees(submission, x.double(), 10_000 + rng.permutation(4), where=" in float64")
    # Near 10000 the mistake is hardly beyond the limit; near a million nobody can miss it.
    places = 1_000_000 + rng.permutation(4)
    assert_agrees(submission, x, places, where=" in float32, near position 1000000")


@check(
    kind="gradient",
    why="Queries and keys are learned, and learn through this function.",
)
def test_gradient_is_turned_back(submission: Submission, rng: Rng) -> None:
    """The gradient to x is the incoming one, rotated by the same angles the other way."""
    x, places, cotangent = rng.normal(2, 5, 8), rng.permutation(5), rng.normal(2, 5, 8)
    x.requires_grad_()
    found = gradients([answer(submission, x, places)], {"x": x}, [cotangent])["x"]
    assert_close(found, expected(cotangent, -places), "the gradient to x", gradient=True)


@check(
    kind="edge",
    why="Heads come out of a transpose, and tokens out of a slice.",
)
def test_inputs_that_are_not_contiguous(submission: Submission, rng: Rng) -> None:
    """Transposed and strided x and positions give the same as contiguous ones."""
    heads = rng.normal(2, 5, 3, 8).transpose(1, 2)
    assert_agrees(submission, heads, torch.arange(10)[::2], where=" of a transpose")
    assert_agrees(submission, rng.normal(4, 6, 16)[:, ::2, ::2], where=" of a slice")


@check(
    kind="edge",
    why="One pair turns like the hand of a clock, and one token has no neighbours.",
)
def test_smallest_sizes(submission: Submission, rng: Rng) -> None:
    """A width of two, and a single token, are sizes like all others."""
    assert_agrees(submission, rng.normal(3, 7, 2), where=" of width 2")
    assert_agrees(submission, rng.normal(3, 1, 6), torch.tensor([3]), where=" of one token")


@check(
    kind="boundary",
    why="A feature without a partner would be dropped or mixed up, and nobody would see it.",
)
def test_an_odd_width(submission: Submission, rng: Rng) -> None:
    """An odd width raises ValueError, also a width of one."""
    for width in (7, 1):
        try:
            submission.rotary_embedding(rng.normal(3, width))
        except ValueError:
            continue
        fail(f"A width of {width} raised nothing; it is to raise ValueError.")
