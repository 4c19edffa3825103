"""T0: the function can be called as the interface card says."""

from __future__ import annotations

import torch
from oracle import FUNCTION, attend, checked_pair, draw, draw_mask, with_mask

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_tuple,
    assert_unchanged,
    check,
    fail,
)


@check(
    kind="interface",
    why="Layers built on this kernel go by its name and by the names of its parameters.",
)
def test_function_takes_the_four_parameters(submission: Submission) -> None:
    """`attention_kernel` exists and takes `q`, `k`, `v` and, when there is one, `mask`."""
    signature = submission.signature(FUNCTION)
    if signature is None:
        submission.require(FUNCTION)
        fail(f"`{FUNCTION}` is not a function.")
    for positional, keywords in [(3, ()), (4, ()), (0, "qkv"), (0, (*"qkv", "mask"))]:
        reason = signature.problem_with(positional, keywords)
        if reason:
            fail(f"`{FUNCTION}` cannot be called as the interface card says: {reason}.")


@check(
    kind="interface",
    why="Two results travel together; a caller unpacks them by position.",
)
def test_result_is_a_pair(submission: Submission, rng: Rng) -> None:
    """The result is a tuple of two."""
    assert_tuple(submission.attention_kernel(*draw(rng).tensors.values()), 2)


@check(
    kind="interface",
    why="What a key is found by and what it hands over are two things, of two widths.",
)
def test_output_has_the_width_of_the_values(submission: Submission, rng: Rng) -> None:
    """The first of the two results is the output, of shape [B, H, Q, Dv], also when Dv is not d."""
    case = draw(rng, width=4, value_width=7)
    output, _ = assert_tuple(submission.attention_kernel(*case.tensors.values()), 2)
    assert_array(output, "the output", shape=(2, 3, 3, 7), dtype=torch.float64)


@check(
    kind="interface",
    why="Whoever wants to see where a query looks needs a weight for each of its keys.",
)
def test_weights_have_a_row_for_each_query(submission: Submission, rng: Rng) -> None:
    """The second of the two results is the weights, of shape [B, H, Q, K], also when Q is not K."""
    case = draw(rng, queries=4, keys=3)
    _, weights = assert_tuple(submission.attention_kernel(*case.tensors.values()), 2)
    assert_array(weights, "the weights", shape=(2, 3, 4, 3), dtype=torch.float64)


@check(
    kind="interface",
    why="A kernel that changes the dtype breaks the layer around it, or slows it down unnoticed.",
)
def test_dtype_and_device_of_the_inputs_are_kept(submission: Submission, rng: Rng) -> None:
    """Both results have the dtype and device of the inputs, for float32 and for float64."""
    for dtype in (torch.float32, torch.float64):
        attend(submission, draw(rng, dtype=dtype))
        attend(submission, with_mask(draw(rng, dtype=dtype), draw_mask(rng, 2, 3, 3)))


@check(
    kind="interface",
    why="Four tensors in a row are easily mixed up; a careful caller names them.",
)
def test_keyword_call_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all four arguments by name."""
    case = with_mask(draw(rng), draw_mask(rng, 2, 1, 3))
    checked_pair(submission.attention_kernel(**case.tensors, mask=case.mask), case)


@check(
    kind="interface",
    why="The order of the parameters is part of the interface too.",
)
def test_positional_call_with_a_mask_works(submission: Submission, rng: Rng) -> None:
    """The function can be called with all four arguments by position, the mask last."""
    attend(submission, with_mask(draw(rng), draw_mask(rng, 2, 3, 3)))


@check(
    kind="interface",
    why="The same mask serves every layer, and keys are kept from one step to the next.",
)
def test_inputs_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call changes none of its inputs, the mask included."""
    case = with_mask(draw(rng), draw_mask(rng, 2, 3, 3))
    assert_unchanged(submission.observe(FUNCTION, **case.tensors, mask=case.mask))
    assert_unchanged(submission.observe(FUNCTION, **draw(rng).tensors))
