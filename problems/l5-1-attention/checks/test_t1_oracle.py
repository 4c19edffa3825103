"""T1: the numbers agree with independent computations."""

from __future__ import annotations

import math

import numpy as np
import torch
from oracle import Case, assert_both, attend, draw
from torch.nn.functional import scaled_dot_product_attention as torch_attention

from judge.checks import Rng, Submission, assert_close, check

SIZES = [  # leading axes, Tq, Tk, d, Dv
    ((), 4, 4, 2, 5),
    ((3,), 2, 7, 9, 1),
    ((2, 2), 6, 3, 1, 4),
]


@check(
    kind="unit",
    why="Numbers that can be followed by hand say what the formula means.",
)
def test_worked_example(submission: Submission) -> None:
    """The worked example of the page: weights in eighths, outputs (11, -3) and (10, -2)."""
    # d = 4, so the scores are halved; what remains are the logarithms of whole numbers.
    q = 2 * np.log(np.array([[1.0, 2.0, 5.0, 1.0], [4.0, 1.0, 3.0, 1.0]]))
    v = np.array([[8.0, 0.0], [0.0, 8.0], [16.0, -8.0]])
    output, weights = attend(submission, Case(q, np.eye(4)[:3], v))
    right = np.array([[1.0, 2.0, 5.0], [4.0, 1.0, 3.0]]) / 8
    assert_close(weights, right, "the weights")
    assert_close(output, np.array([[11.0, -3.0], [10.0, -2.0]]), "the output")


@check(
    kind="oracle",
    why="The weights come first: while they are off, nothing computed from them is right.",
)
def test_weights(submission: Submission, rng: Rng) -> None:
    """The weights agree with the formula computed one query at a time."""
    case = draw(rng)
    _, weights = attend(submission, case)
    grown = np.exp(case.q @ case.k.swapaxes(-1, -2) / 2)
    assert_close(weights, grown / grown.sum(axis=-1, keepdims=True), "the weights")


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_several_sizes(submission: Submission, rng: Rng) -> None:
    """Output and weights agree, one query at a time, for several lengths and widths."""
    for lead, queries, keys, width, value_width in SIZES:
        shapes = ((queries, width), (keys, width), (keys, value_width))
        q, k, v = (rng.numpy.normal(size=(*lead, *shape)) for shape in shapes)
        where = f" at {queries} queries, {keys} keys, d={width}, Dv={value_width}"
        assert_both(submission, Case(q, k, v), where)


@check(
    kind="oracle",
    why="Nobody tells a layer beforehand how long a sequence will be.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for sizes that are drawn anew for each submission."""
    width = rng.integer(8, 20)
    case = draw(
        rng,
        rng.integer(2, 4),
        queries=rng.integer(6, 12),
        keys=rng.integer(7, 13),
        width=width,
        value_width=width + rng.integer(1, 4),
    )
    assert_both(submission, case)


@check(
    kind="oracle",
    why="Weights of models trained elsewhere have to mean the same here.",
)
def test_output_agrees_with_torch(submission: Submission, rng: Rng) -> None:
    """The output agrees with `torch.nn.functional.scaled_dot_product_attention`."""
    case = draw(rng, 2, 3, queries=6, keys=7, width=8, value_width=5)
    q, k, v = (torch.from_numpy(array) for array in (case.q, case.k, case.v))
    output, _ = attend(submission, case)
    assert_close(output, torch_attention(q, k, v).numpy(), "the output")


@check(
    kind="oracle",
    why="Models are trained in float32; the same formula has to hold in its precision.",
)
def test_float32(submission: Submission, rng: Rng) -> None:
    """Output and weights agree in float32, within its precision."""
    assert_both(submission, draw(rng, queries=4, keys=6, width=16, dtype=np.float32))


@check(
    kind="property",
    why="An answer kept from an earlier call is wrong as soon as the numbers change.",
)
def test_new_numbers_give_new_answers(submission: Submission, rng: Rng) -> None:
    """A second call with the same shapes and other numbers gives that call's answer."""
    attend(submission, draw(rng))
    assert_both(submission, draw(rng), " of the second call")


@check(
    kind="property",
    why="The variance of a product of d features is d: without the scale, wide models saturate.",
)
def test_scores_are_divided_by_the_root_of_their_width(submission: Submission, rng: Rng) -> None:
    """Repeating every feature of q and k four times doubles the scores, and no more."""
    case = draw(rng, width=3)
    repeated = Case(np.repeat(case.q, 4, axis=-1), np.repeat(case.k, 4, axis=-1), case.v)
    _, weights = attend(submission, repeated)
    grown = np.exp(2 * (case.q @ case.k.swapaxes(-1, -2)) / math.sqrt(3))
    assert_close(weights, grown / grown.sum(axis=-1, keepdims=True), "the weights")
