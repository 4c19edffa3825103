"""T0: the function can be called as the contract says, and refuses what it must."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from oracle import FUNCTION, PARAMETERS, Case, attend, checked_pair, draw, draw_mask

from judge.checks import (
    Rng,
    Submission,
    SubmissionError,
    assert_array,
    assert_tuple,
    assert_unchanged,
    check,
    fail,
)


def _assert_refused(
    submission: Submission, kind: type[Exception], name: str, what: str, case: Case | dict[str, Any]
) -> None:
    """The call raises `kind`, with a message that mentions the argument `name`."""
    try:
        if isinstance(case, Case):
            submission.attend(**case.arguments)
        else:
            submission.attend_with_an_array(**case)
    except SubmissionError as error:
        if not isinstance(error, kind):
            fail(f"{what}: expected {kind.__name__}, found {error.failure.kind}: {error}")
        if not re.search(rf"\b{name}\b", str(error)):
            message = str(error) or "(empty)"
            fail(f"{what}: the {kind.__name__} does not name `{name}`. Its message: {message}")
        return
    fail(f"{what}: expected {kind.__name__}, but the call returned a result.")


@check(
    kind="interface",
    why="Later chapters call the function by its name and by the names of its parameters.",
)
def test_function_takes_the_seven_parameters(submission: Submission) -> None:
    """The function exists and takes q, k, v, and optionally mask, dropout, training and rng."""
    signature = submission.signature(FUNCTION)
    if signature is None:
        submission.require(FUNCTION)
        fail(f"`{FUNCTION}` is not a function.")
    for positional, keywords in ((3, ()), (7, ()), (0, PARAMETERS), (3, PARAMETERS[3:])):
        reason = signature.problem_with(positional, keywords)
        if reason:
            fail(f"`{FUNCTION}` cannot be called as the contract says: {reason}.")


@check(
    kind="interface",
    why="Only a Tensor carries the gradient on; an array ends it without a word.",
)
def test_results_are_two_tensors(submission: Submission, rng: Rng) -> None:
    """The result is a tuple of two Tensors."""
    case = draw(rng)
    names = submission.types_of_results(case.q, case.k, case.v)
    if names != ["Tensor", "Tensor"]:
        found = f"a tuple of {', '.join(names)}" if names else "no tuple"
        fail(f"The result: expected a tuple of two Tensors, found {found}.")


@check(
    kind="interface",
    why="Queries set how many rows there are, values how wide they are; keys set neither.",
)
def test_output_is_as_long_as_q_and_as_wide_as_v(submission: Submission, rng: Rng) -> None:
    """The first result is the output, [..., Tq, Dv], also where Dv is not d and Tq is not Tk."""
    case = draw(rng, queries=3, keys=5, width=4, value_width=6)
    output, _ = assert_tuple(submission.attend(**case.arguments), 2)
    assert_array(output, "the output", shape=(2, 3, 6), dtype=np.float64)


@check(
    kind="interface",
    why="Seeing where a model looks is half of finding out what is wrong with it.",
)
def test_weights_have_a_row_for_each_query(submission: Submission, rng: Rng) -> None:
    """The second result is the weights, [..., Tq, Tk]."""
    case = draw(rng, queries=3, keys=5)
    _, weights = assert_tuple(submission.attend(**case.arguments), 2)
    assert_array(weights, "the weights", shape=(2, 3, 5), dtype=np.float64)


@check(
    kind="interface",
    why="Chapter L5.3 calls with [B, H, T, d], a worked example with plain matrices.",
)
def test_any_number_of_leading_axes(submission: Submission, rng: Rng) -> None:
    """Matrices alone are enough, and any number of axes may stand before them."""
    matrices = draw(rng)
    attend(submission, Case(matrices.q[0], matrices.k[0], matrices.v[0]))
    attend(submission, draw(rng, 2, 3))
    attend(submission, draw(rng, 1, 2, 1, 2))


@check(
    kind="interface",
    why="One float64 number in a float32 model makes everything after it twice as large.",
)
def test_dtype_is_kept(submission: Submission, rng: Rng) -> None:
    """float32 gives float32 and float64 gives float64, with a mask and in training, too."""
    for dtype in (np.float32, np.float64):
        case = draw(rng, dtype=dtype, mask=draw_mask(rng, 3, 5))
        attend(submission, case)
        attend(submission, replace(case, dropout=0.5, training=True, seed=3))


@check(
    kind="interface",
    why="The caller goes on using all of them: the mask in every layer, q, k and v in backward.",
)
def test_inputs_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call changes neither q, k and v nor the mask."""
    case = draw(rng, mask=draw_mask(rng, 3, 5))
    assert_unchanged(submission.observe("attend", **case.arguments))


@check(
    kind="boundary",
    why="A vector has no length T: a product with it succeeds and means something else.",
)
def test_vectors_are_refused(submission: Submission, rng: Rng) -> None:
    """q, k and v with fewer than two axes raise ValueError."""
    full = draw(rng)
    case = Case(full.q[0], full.k[0], full.v[0])
    for name in "qkv":
        vector = replace(case, **{name: getattr(case, name)[0]})
        _assert_refused(submission, ValueError, name, f"`{name}` as a vector", vector)


@check(
    kind="boundary",
    why="Queries and keys meet in a product over their features, so they have equally many.",
)
def test_unequal_widths_of_q_and_k_are_refused(submission: Submission, rng: Rng) -> None:
    """q and k of different widths raise ValueError, and its message names `q`."""
    case = draw(rng, width=4)
    for width in (3, 1):
        narrow = replace(case, k=case.k[..., :width])
        what = f"`q` of width 4 and `k` of width {width}"
        _assert_refused(submission, ValueError, "q", what, narrow)


@check(
    kind="boundary",
    why="Key and value number j belong to one token; a value without a key belongs to none.",
)
def test_unequal_lengths_of_k_and_v_are_refused(submission: Submission, rng: Rng) -> None:
    """k and v of different lengths raise ValueError."""
    case = draw(rng, keys=5)
    for length in (4, 1):
        short = replace(case, v=case.v[:, :length])
        what = f"`k` of length 5 and `v` of length {length}"
        _assert_refused(submission, ValueError, "v", what, short)


@check(
    kind="boundary",
    why="A mask of the wrong shape is a mix-up of axes, and best found where it happens.",
)
def test_masks_that_do_not_fit_are_refused(submission: Submission, rng: Rng) -> None:
    """A mask that cannot be broadcast to the scores raises ValueError; nor may it enlarge them."""
    case = draw(rng, queries=3, keys=5)
    for shape in ((4,), (2, 1, 5, 3), (4, 1, 3, 5)):
        mask = np.ones(shape, bool)
        what = f"a mask of shape {list(shape)} on scores of shape [2, 3, 5]"
        _assert_refused(submission, ValueError, "mask", what, replace(case, mask=mask))


@check(
    kind="boundary",
    why="Is 0 hidden, or is it a number to add? True and False leave no doubt.",
)
def test_masks_that_are_not_boolean_are_refused(submission: Submission, rng: Rng) -> None:
    """A mask of whole numbers or of floats raises TypeError."""
    case = draw(rng)
    for kind in (np.int64, np.uint8, np.float64):
        mask = np.ones((3, 5), kind)
        what = f"a mask of {mask.dtype}"
        _assert_refused(submission, TypeError, "mask", what, replace(case, mask=mask))


@check(
    kind="boundary",
    why="An array among tensors works, and its gradient is lost without a word.",
)
def test_arrays_are_refused(submission: Submission, rng: Rng) -> None:
    """q, k or v that is no Tensor raises TypeError."""
    case = draw(rng)
    for name in "qkv":
        arguments = {"name": name, "q": case.q, "k": case.k, "v": case.v}
        _assert_refused(submission, TypeError, name, f"`{name}` as an array", arguments)


@check(
    kind="boundary",
    why="A rate of 1 divides by zero; 30 instead of 0.3 should not turn out late at night.",
)
def test_dropout_outside_its_range_is_refused(submission: Submission, rng: Rng) -> None:
    """A dropout below 0, of 1 or more, or NaN, raises ValueError, also outside of training."""
    case = draw(rng, seed=1)
    for dropout in (-0.1, 1.0, 30.0, float("nan")):
        for training in (True, False):
            wrong = replace(case, dropout=dropout, training=training)
            _assert_refused(submission, ValueError, "dropout", f"dropout={dropout}", wrong)


@check(
    kind="boundary",
    why="Random numbers from nowhere cannot be repeated, and then no experiment can.",
)
def test_dropout_in_training_asks_for_a_stream(submission: Submission, rng: Rng) -> None:
    """Without rng, dropout in training raises ValueError; without dropout none is asked for."""
    case = draw(rng, training=True)
    checked_pair(submission.attend(**case.arguments), case)
    checked_pair(submission.attend(**replace(case, dropout=0.0).arguments), case)
    what = "dropout=0.5 in training without `rng`"
    _assert_refused(submission, ValueError, "rng", what, replace(case, dropout=0.5))
