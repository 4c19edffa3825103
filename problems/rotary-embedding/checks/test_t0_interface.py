"""T0: the function can be called as the interface card says."""

from __future__ import annotations

import torch
from oracle import FUNCTION, answer

from judge.checks import Rng, Submission, assert_array, assert_unchanged, check, fail


@check(
    kind="interface",
    why="Most callers have queries only; a cache adds positions, and a longer context the base.",
)
def test_function_takes_the_three_parameters(submission: Submission) -> None:
    """It takes `x`, `positions` and `base`, by position or by name; only `x` is needed."""
    signature = submission.signature(FUNCTION)
    if signature is None:
        submission.require(FUNCTION)
        fail(f"`{FUNCTION}` is not a function.")
    calls: list[tuple[int, tuple[str, ...]]] = [
        (1, ()),
        (3, ()),
        (1, ("positions",)),
        (1, ("base",)),
        (0, ("x", "positions", "base")),
    ]
    for positional, keywords in calls:
        reason = signature.problem_with(positional, keywords)
        if reason:
            fail(f"`{FUNCTION}` cannot be called as the interface card says: {reason}.")


@check(
    kind="interface",
    why="Queries come as [T, d], as [B, T, d], or in heads as [B, H, T, d].",
)
def test_shape_stays(submission: Submission, rng: Rng) -> None:
    """The result has the shape of x, whatever stands before its last two axes."""
    for shape in [(5, 8), (2, 5, 8), (2, 3, 5, 8)]:
        found = submission.rotary_embedding(rng.normal(*shape))
        assert_array(found, shape=shape, dtype=torch.float64)


@check(
    kind="interface",
    why="A float64 angle that leaks into the result makes a whole model slow, or stops it.",
)
def test_dtype_is_that_of_x(submission: Submission, rng: Rng) -> None:
    """The result has the dtype of x: float32 as well as float64, for positions of either kind."""
    whole, broken = torch.arange(5), torch.arange(5, dtype=torch.float32) / 2
    for dtype in (torch.float32, torch.float64):
        for positions in (None, whole, broken):
            answer(submission, rng.normal(2, 5, 8, dtype=dtype), positions)


@check(
    kind="interface",
    why="The caller may need its queries and positions again.",
)
def test_arguments_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call by names leaves x and positions as they were."""
    x, positions = rng.normal(2, 5, 8), rng.permutation(5)
    assert_unchanged(submission.observe(FUNCTION, x=x, positions=positions, base=500.0))
