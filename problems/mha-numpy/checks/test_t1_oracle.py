"""T1: the numbers agree with loops over heads, tokens and features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle import assert_both, attend, draw, expected

from judge.checks import Rng, Submission, assert_close, check

SIZES = [(3, 6, 3), (7, 4, 2), (4, 12, 4)]  # n, d_model, num_heads


@check(
    kind="oracle",
    why="The weights come first: while they are off, nothing computed from them is right.",
)
def test_weights_of_a_short_sequence(submission: Submission, rng: Rng) -> None:
    """The weights of every head agree with those of the loops."""
    case = draw(rng)
    _, weights = attend(submission, case)
    assert_close(weights, expected(case)[1], "the weights")


@check(
    kind="oracle",
    why="This is the layer itself; everything a Transformer adds stands around it.",
)
def test_output_of_a_short_sequence(submission: Submission, rng: Rng) -> None:
    """The output agrees with the heads computed one by one, put side by side, times W_o."""
    case = draw(rng)
    output, _ = attend(submission, case)
    assert_close(output, expected(case)[0], "the output")


@check(
    kind="oracle",
    why="With W_o out of the way, the order of the concatenated features shows directly.",
)
def test_concatenated_heads(submission: Submission, rng: Rng) -> None:
    """With the identity as W_o, the output is the heads side by side, head 0 first."""
    case = replace(draw(rng, width=9, heads=3), w_o=np.eye(9))
    output, _ = attend(submission, case)
    assert_close(output, expected(case)[0], "the concatenation")


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_several_sizes(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for several lengths, widths and numbers of heads."""
    for tokens, width, heads in SIZES:
        case = draw(rng, tokens=tokens, width=width, heads=heads)
        assert_both(submission, case, f" at n={tokens}, d_model={width}, {heads} heads")


@check(
    kind="oracle",
    why="Nobody tells a layer beforehand how long a sequence will be.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for sizes that are drawn anew for each submission."""
    heads = rng.integer(2, 5)
    case = draw(rng, tokens=rng.integer(11, 17), width=heads * rng.integer(3, 6), heads=heads)
    assert_both(submission, case)


@check(
    kind="oracle",
    why="In a row of four matrices each has a place; swapped roles keep every shape.",
)
def test_each_matrix_in_its_role(submission: Submission, rng: Rng) -> None:
    """With identities for all but one of the four matrices, output and weights agree."""
    case = draw(rng)
    identities = {name: np.eye(6) for name in ("w_q", "w_k", "w_v", "w_o")}
    for name in identities:
        only = {**identities, name: getattr(case, name)}
        assert_both(submission, replace(case, **only), f" with `W{name[1:]}` alone")


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
    why="The layer is a plain function: without dropout there is nothing left to chance.",
)
def test_same_numbers_give_the_same_answer(submission: Submission, rng: Rng) -> None:
    """Two calls with the same inputs give the same answer."""
    case = draw(rng, tokens=4)
    right = expected(case)
    for which in ("first", "second"):
        assert_both(submission, case, f" of the {which} call", right)
