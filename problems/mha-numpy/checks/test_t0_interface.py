"""T0: the function can be called as the interface card says, and gives the worked example."""

from __future__ import annotations

import numpy as np
from oracle import FUNCTION, NAMES, Case, attend, checked_pair, draw, draw_mask, with_mask

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_tuple,
    assert_unchanged,
    check,
    fail,
)


@check(
    kind="interface",
    why="Whoever calls the function goes by its name and by the names of its parameters.",
)
def test_function_takes_the_seven_parameters(submission: Submission) -> None:
    """`multi_head_attention` exists and takes the seven parameters of the interface card."""
    signature = submission.signature(FUNCTION)
    if signature is None:
        submission.require(FUNCTION)
        fail(f"`{FUNCTION}` is not a function.")
    calls = [(6, ()), (7, ()), (0, (*NAMES, "num_heads")), (0, (*NAMES, "num_heads", "mask"))]
    for positional, keywords in calls:
        reason = signature.problem_with(positional, keywords)
        if reason:
            fail(f"`{FUNCTION}` cannot be called as the interface card says: {reason}.")


@check(
    kind="interface",
    why="Two results travel together; a caller unpacks them by position.",
)
def test_result_is_a_pair(submission: Submission, rng: Rng) -> None:
    """The result is a tuple of two."""
    case = draw(rng)
    assert_tuple(submission.multi_head_attention(*case.arrays, case.num_heads), 2)


@check(
    kind="interface",
    why="A layer gives back as many features as it was given, so that layers can be stacked.",
)
def test_output_has_the_shape_of_x(submission: Submission, rng: Rng) -> None:
    """The first of the two results is the output: a float64 array of shape (n, d_model)."""
    case = draw(rng, tokens=4, width=6, heads=3)
    output, _ = assert_tuple(submission.multi_head_attention(*case.arrays, case.num_heads), 2)
    assert_array(output, "the output", shape=(4, 6), dtype=np.float64)


@check(
    kind="interface",
    why="The heads are the point of the layer; averaging hides what each one looks at.",
)
def test_weights_have_one_matrix_for_each_head(submission: Submission, rng: Rng) -> None:
    """The second of the two results is the weights: float64, of shape (num_heads, n, n)."""
    case = draw(rng, tokens=4, width=6, heads=3)
    _, weights = assert_tuple(submission.multi_head_attention(*case.arrays, case.num_heads), 2)
    assert_array(weights, "the weights", shape=(3, 4, 4), dtype=np.float64)


@check(
    kind="interface",
    why="Seven arguments are easier to read by name, and callers will pass them so.",
)
def test_keyword_call_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all seven arguments by name."""
    case = with_mask(draw(rng), draw_mask(rng, 5))
    checked_pair(submission.multi_head_attention(**case.arguments), case)


@check(
    kind="interface",
    why="The order of the parameters is part of the interface too.",
)
def test_positional_call_with_a_mask_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all seven arguments by position, the mask last."""
    attend(submission, with_mask(draw(rng), draw_mask(rng, 5)))


@check(
    kind="interface",
    why="The matrices serve every sequence and the mask every layer, long after this call.",
)
def test_inputs_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call changes none of its inputs, the mask included."""
    case = with_mask(draw(rng), draw_mask(rng, 5))
    assert_unchanged(submission.observe(FUNCTION, **case.arguments))
    assert_unchanged(submission.observe(FUNCTION, *draw(rng).arrays, 2))


@check(
    kind="unit",
    why="An example that fits on a napkin tells a misunderstanding from a slip.",
)
def test_worked_example(submission: Submission) -> None:
    """Two tokens, two heads, identities as matrices: the numbers of the worked example."""
    x, w_q, w_k, w_v, w_o = (np.eye(2) for _ in range(5))
    output, weights = attend(submission, Case(x, w_q, w_k, w_v, w_o, num_heads=2))
    large, small = 0.73105858, 0.26894142
    right = np.array([[[large, small], [0.5, 0.5]], [[0.5, 0.5], [small, large]]])
    assert_close(weights, right, "the weights")
    assert_close(output, np.array([[large, 0.5], [0.5, large]]), "the output")
