"""T0: the function can be called as the interface card says."""

from __future__ import annotations

import torch
from oracle import NAMES, attend, checked_pair, draw, with_mask

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_tuple,
    assert_unchanged,
    check,
    fail,
)

FUNCTION = "multi_head_attention"


@check(
    kind="interface",
    why="Whoever calls the function goes by its name and by the names of its parameters.",
)
def test_function_takes_the_nine_parameters(submission: Submission) -> None:
    """`multi_head_attention` exists and takes the nine parameters of the interface card."""
    signature = submission.signature(FUNCTION)
    if signature is None:
        submission.require(FUNCTION)
        fail(f"`{FUNCTION}` is not a function.")
    calls = [(8, ()), (9, ()), (0, (*NAMES, "num_heads")), (0, (*NAMES, "num_heads", "mask"))]
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
    result = submission.multi_head_attention(*case.tensors.values(), case.num_heads)
    assert_tuple(result, 2)


@check(
    kind="interface",
    why="In cross-attention the queries set the length of the output, the keys do not.",
)
def test_output_has_one_row_for_each_query(submission: Submission, rng: Rng) -> None:
    """The first of the two results is the output, of shape [B, Q, D], also when Q and K differ."""
    case = draw(rng, queries=3, keys=5)
    result = submission.multi_head_attention(*case.tensors.values(), case.num_heads)
    output, _ = assert_tuple(result, 2)
    assert_array(output, "the output", shape=(2, 3, 8), dtype=torch.float64)


@check(
    kind="interface",
    why="The heads are the point of the operator; averaging hides what each one looks at.",
)
def test_weights_have_one_matrix_for_each_head(submission: Submission, rng: Rng) -> None:
    """The second of the two results is the weights, of shape [B, H, Q, K], one matrix per head."""
    case = draw(rng, queries=4, keys=3)
    result = submission.multi_head_attention(*case.tensors.values(), case.num_heads)
    _, weights = assert_tuple(result, 2)
    assert_array(weights, "the weights", shape=(2, 2, 4, 3), dtype=torch.float64)


@check(
    kind="interface",
    why="A layer that changes the dtype breaks the next one, or slows it down without a word.",
)
def test_dtype_and_device_of_the_inputs_are_kept(submission: Submission, rng: Rng) -> None:
    """Both results have the dtype and device of the inputs, for float32 and for float64."""
    for dtype in (torch.float32, torch.float64):
        attend(submission, draw(rng, dtype=dtype))


@check(
    kind="interface",
    why="Nine arguments are easier to read by name, and callers will pass them so.",
)
def test_keyword_call_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all nine arguments by name."""
    case = with_mask(draw(rng), rng.visible(2, 1, 3, 5))
    checked_pair(submission.multi_head_attention(**case.arguments), case)


@check(
    kind="interface",
    why="The order of the parameters is part of the interface too.",
)
def test_positional_call_with_a_mask_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all nine arguments by position, the mask last."""
    attend(submission, with_mask(draw(rng), rng.visible(2, 1, 3, 5)))


@check(
    kind="interface",
    why="The caller still needs its tensors: the mask serves every layer, the matrices every step.",
)
def test_inputs_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call changes none of its inputs, the mask included."""
    case = with_mask(draw(rng), rng.visible(2, 1, 3, 5))
    assert_unchanged(submission.observe(FUNCTION, **case.arguments))
