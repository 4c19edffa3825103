"""T0: the module is built and called as the interface card says."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from oracle import BIASES, CLASS, WEIGHTS, assert_prints, attend, draw, module_of

from judge.checks import (
    Rng,
    Submission,
    SubmissionError,
    assert_array,
    assert_unchanged,
    check,
    fail,
)

STATEMENT = Path(__file__).parents[1] / "statement.md"


@check(
    kind="interface",
    why="Other layers read these three numbers instead of asking for them again.",
)
def test_attributes(submission: Submission) -> None:
    """`MultiHeadAttention(d_model=12, num_heads=3)` has d_model 12, num_heads 3 and d_head 4."""
    module = submission.module(CLASS, d_model=12, num_heads=3)
    names = ("d_model", "num_heads", "d_head")
    for name, found, right in zip(names, module.attributes(*names), (12, 3, 4), strict=True):
        if type(found) is not int or found != right:
            fail(f"`{name}` has to be {right}, and is {repr(found)[:80]}.")


@check(
    kind="interface",
    why="Names and shapes of the parameters are what a saved model is loaded by.",
)
def test_parameters(submission: Submission) -> None:
    """The state dict holds weight and bias of q_proj, k_proj, v_proj and out_proj, nothing else."""
    state = submission.module(CLASS, 12, 3).state()
    missing = [name for name in (*WEIGHTS, *BIASES) if name not in state]
    if missing:
        fail(f"The state dict has no {_listed(missing)}.")
    unknown = sorted(state.keys() - {*WEIGHTS, *BIASES})
    if unknown:
        fail(f"The state dict holds {_listed(unknown)}, which no saved model will have.")
    for name in WEIGHTS:
        assert_array(state[name], f"`{name}`", shape=(12, 12), dtype=torch.float32)
    for name in BIASES:
        assert_array(state[name], f"`{name}`", shape=(12,), dtype=torch.float32)


@check(
    kind="boundary",
    why="Heads of unequal width do not exist; a wrong size should be noticed where it is given.",
)
def test_heads_have_to_divide_the_width(submission: Submission) -> None:
    """`MultiHeadAttention(10, 4)` raises an AssertionError: 4 heads cannot share 10 features."""
    module = submission.module(CLASS, 10, 4)
    try:
        module.state()
    except SubmissionError as error:
        if not isinstance(error, AssertionError):
            raise
    else:
        fail("`MultiHeadAttention(10, 4)` raised nothing.")


@check(
    kind="interface",
    why="Layers are stacked: each takes what the one before it returns.",
)
def test_shape_and_dtype_are_those_of_the_input(submission: Submission, rng: Rng) -> None:
    """The output has the shape and dtype of x, for float32 and for float64."""
    attend(submission, draw(rng, dtype=torch.float32))
    attend(submission, draw(rng, dtype=torch.float64), causal=True)


@check(
    kind="interface",
    why="Encoders call the module without the flag, decoders with it.",
)
def test_causal_is_optional(submission: Submission, rng: Rng) -> None:
    """The call takes x alone, or `causal` with it, by position or by name."""
    case = draw(rng)
    module = module_of(submission, case)
    calls = {
        "x": module(case.x),
        "x, True": module(case.x, True),
        "x=x, causal=False": module(x=case.x, causal=False),
    }
    for call, output in calls.items():
        what = f"the output of the call with `{call}`"
        assert_array(output, what, shape=case.x.shape, dtype=case.x.dtype)


@check(
    kind="interface",
    why="A residual connection adds x to the output, so x has to be what it was.",
)
def test_input_stays_as_it_is(submission: Submission, rng: Rng) -> None:
    """A call leaves x as it was, with and without `causal`."""
    case = draw(rng)
    module = module_of(submission, case)
    assert_unchanged(module.observe(case.x))
    assert_unchanged(module.observe(case.x, causal=True))


@check(
    kind="unit",
    why="An example that can be typed in shows more than a description of it.",
)
def test_session_of_the_statement(submission: Submission) -> None:
    """The interpreter session of the statement prints what stands there."""
    assert_prints(submission, _session())


def _session() -> str:
    """The one interpreter session in the statement."""
    blocks = re.findall(r"(?ms)^```pycon\n(.*?)^```$", STATEMENT.read_text("utf-8"))
    if len(blocks) != 1:
        raise ValueError(f"the statement has {len(blocks)} sessions, not one")
    session: str = blocks[0]
    return session


def _listed(names: list[str]) -> str:
    """At most five names; they may be the student's, and as long as they like."""
    shown = ", ".join(repr(name)[:80] for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
