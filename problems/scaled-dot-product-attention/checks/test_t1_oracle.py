"""T1: the numbers agree with two independent computations."""

from __future__ import annotations

from dataclasses import replace

import torch
from oracle import assert_both, attend, by_loops, draw, expected

from judge.checks import Rng, Submission, assert_close, check

SIZES = [  # B, H, Q, K, d, Dv
    (1, 2, 4, 3, 9, 2),
    (3, 1, 2, 7, 3, 5),
    (2, 5, 6, 6, 8, 8),
]


@check(
    kind="oracle",
    why="The weights come first: while they are off, no average made with them is right.",
)
def test_weights_of_a_small_case(submission: Submission, rng: Rng) -> None:
    """The weights agree with those of the library's own attention."""
    case = draw(rng)
    _, weights = attend(submission, case)
    assert_close(weights, expected(case)[1], "the weights")


@check(
    kind="oracle",
    why="This average is all that a layer hands on of what its queries found.",
)
def test_output_of_a_small_case(submission: Submission, rng: Rng) -> None:
    """The output agrees with that of the library's own attention."""
    case = draw(rng)
    output, _ = attend(submission, case)
    assert_close(output, expected(case)[0], "the output")


@check(
    kind="oracle",
    why="Loops over single numbers are slow, and too plain to be wrong in the same way.",
)
def test_explicit_loops(submission: Submission, rng: Rng) -> None:
    """Output and weights agree with loops over single numbers, in float64."""
    case = draw(rng, queries=2, keys=4, width=3, value_width=2)
    assert_both(submission, case, right=by_loops(case))


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_several_sizes(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for several lengths and widths."""
    for batch, heads, queries, keys, width, value_width in SIZES:
        case = draw(
            rng,
            batch=batch,
            heads=heads,
            queries=queries,
            keys=keys,
            width=width,
            value_width=value_width,
        )
        where = f" at {queries} queries, {keys} keys, d={width}, Dv={value_width}"
        assert_both(submission, case, where)


@check(
    kind="oracle",
    why="Nobody tells a kernel beforehand how long a sequence will be.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for sizes that are drawn anew for each submission."""
    case = draw(
        rng,
        heads=rng.integer(2, 6),
        queries=rng.integer(11, 25),
        keys=rng.integer(13, 31),
        width=rng.integer(10, 20),
        value_width=rng.integer(20, 30),
    )
    assert_both(submission, case)


@check(
    kind="oracle",
    why="Models are trained in float32; the same formula has to hold in its precision.",
)
def test_float32(submission: Submission, rng: Rng) -> None:
    """Output and weights agree in float32, within its precision."""
    assert_both(submission, draw(rng, queries=6, keys=8, width=16, dtype=torch.float32))


@check(
    kind="oracle",
    why="In self-attention one tensor plays two roles, or all three.",
)
def test_one_tensor_in_three_roles(submission: Submission, rng: Rng) -> None:
    """The same tensor may be passed as q, k and v."""
    case = draw(rng, queries=5)
    assert_both(submission, replace(case, k=case.q, v=case.q))


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
    why="The kernel is a plain function: without dropout there is nothing left to chance.",
)
def test_same_numbers_give_the_same_answer(submission: Submission, rng: Rng) -> None:
    """Two calls with the same inputs give the same answer."""
    case = draw(rng, queries=6, keys=6)
    for which in ("first", "second"):
        assert_both(submission, case, f" of the {which} call")
