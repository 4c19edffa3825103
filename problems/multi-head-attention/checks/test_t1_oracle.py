"""T1: the numbers agree with an independent computation, head by head."""

from __future__ import annotations

from dataclasses import replace

import torch
from oracle import Case, attend, draw, expected

from judge.checks import Rng, Submission, assert_close, check

SIZES = [  # B, Q, K, D, H
    (2, 4, 3, 6, 3),
    (3, 2, 7, 12, 4),
]


def _assert_both(submission: Submission, case: Case, where: str = "") -> None:
    output, weights = attend(submission, case)
    right_output, right_weights = expected(case)
    dtype = case.query.dtype
    assert_close(weights, right_weights, f"the weights{where}", dtype=dtype)
    assert_close(output, right_output, f"the output{where}", dtype=dtype)


@check(
    kind="oracle",
    why="The weights come first: while they are off, nothing computed from them is right.",
)
def test_weights_of_a_small_cross_attention(submission: Submission, rng: Rng) -> None:
    """The weights of every head agree with attention computed for that head alone."""
    case = draw(rng)
    _, weights = attend(submission, case)
    assert_close(weights, expected(case)[1], "the weights")


@check(
    kind="oracle",
    why="This is the operator itself; everything a Transformer adds stands around it.",
)
def test_output_of_a_small_cross_attention(submission: Submission, rng: Rng) -> None:
    """The output agrees with the heads computed one by one, put side by side, times w_o."""
    case = draw(rng)
    output, _ = attend(submission, case)
    assert_close(output, expected(case)[0], "the output")


@check(
    kind="oracle",
    why="With w_o out of the way, the order of the concatenated features shows directly.",
)
def test_concatenated_heads(submission: Submission, rng: Rng) -> None:
    """With the identity as w_o, the output is the heads side by side, head 0 first."""
    case = replace(draw(rng, width=12, heads=3), w_o=torch.eye(12, dtype=torch.float64))
    output, _ = attend(submission, case)
    assert_close(output, expected(case)[0], "the concatenation")


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_several_sizes(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for several lengths, widths and numbers of heads."""
    for batch, queries, keys, width, heads in SIZES:
        case = draw(rng, batch=batch, queries=queries, keys=keys, width=width, heads=heads)
        _assert_both(submission, case, f" at {queries} queries, {keys} keys, D={width}, H={heads}")


@check(
    kind="oracle",
    why="Real models use eight heads and more; small cases can hide a mix-up of axes.",
)
def test_a_larger_model(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for eight heads of width 4 over 10 queries and 12 keys."""
    _assert_both(submission, draw(rng, queries=10, keys=12, width=32, heads=8))


@check(
    kind="oracle",
    why="Nobody tells a layer beforehand how long a sequence will be.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for sizes that are drawn anew for each submission."""
    heads, width = rng.integer(2, 7), rng.integer(3, 10)
    case = draw(
        rng,
        batch=rng.integer(2, 6),
        queries=rng.integer(11, 25),
        keys=rng.integer(13, 31),
        width=heads * width,
        heads=heads,
    )
    _assert_both(submission, case)


@check(
    kind="oracle",
    why="Models are trained in float32; the same formula has to hold in its precision.",
)
def test_float32(submission: Submission, rng: Rng) -> None:
    """Output and weights agree in float32, within its precision."""
    _assert_both(submission, draw(rng, width=16, heads=4, dtype=torch.float32))


@check(
    kind="oracle",
    why="Self-attention is the same operator with one sequence in three roles.",
)
def test_self_attention(submission: Submission, rng: Rng) -> None:
    """The same tensor may be passed as query, key and value."""
    case = draw(rng, queries=4, keys=4)
    _assert_both(submission, replace(case, key=case.query, value=case.query))


@check(
    kind="property",
    why="An answer kept from an earlier call is wrong as soon as the numbers change.",
)
def test_new_numbers_give_new_answers(submission: Submission, rng: Rng) -> None:
    """A second call with the same shapes and other numbers gives that call's answer."""
    attend(submission, draw(rng))
    _assert_both(submission, draw(rng), " of the second call")


@check(
    kind="property",
    why="The operator is a plain function: without dropout there is nothing left to chance.",
)
def test_same_numbers_give_the_same_answer(submission: Submission, rng: Rng) -> None:
    """Two calls with the same inputs give the same answer."""
    case = draw(rng, queries=6, keys=6)
    first, _ = attend(submission, case)
    second, _ = attend(submission, case)
    right = expected(case)[0]
    assert_close(first, right, "the output of the first call")
    assert_close(second, right, "the output of the second call")
