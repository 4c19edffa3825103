"""T0: the module is made, named and refused as the contract says."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
from oracle import NAMES, attend, different_in_each_sequence, draw, with_mask

from judge.checks import (
    Rng,
    Submission,
    SubmissionError,
    assert_array,
    assert_equal,
    assert_unchanged,
    check,
    fail,
)

OPTIONS = {"d_model": 8, "n_heads": 2}
Call = Callable[[], object]


@check(
    kind="unit",
    why="Parts 5 to 7 store and load models by these eight names; a checkpoint knows no others.",
)
def test_parameter_names_shapes_and_init(submission: Submission, rng: Rng) -> None:
    """Eight parameters in order, drawn anew from the seed they are given; four without biases."""
    seed = rng.integer(1, 2**31)
    drawn = submission.parameters(OPTIONS, seed)
    _assert_names(drawn, NAMES, "the parameters")
    for name in NAMES:
        shape = (8, 8) if name.endswith("weight") else (8,)
        assert_array(drawn[name], f"`{name}`", shape=shape, dtype=np.float32)
    again, other = submission.parameters(OPTIONS, seed), submission.parameters(OPTIONS, seed + 1)
    for name in NAMES:
        assert_equal(again[name], drawn[name], f"`{name}`, drawn again from the same seed")
        if np.array_equal(other[name], drawn[name]):
            fail(f"`{name}`: two different seeds gave the same numbers.")
    default, init = submission.parameters(OPTIONS), submission.parameters(OPTIONS, 0, "init")
    for each in (drawn, default):
        for one, two in combinations(NAMES[::2], 2):
            if np.array_equal(each[one], each[two]):
                fail(f"`{one}` and `{two}` start with the same numbers; draw all from one rng.")
    for name in NAMES:
        assert_equal(default[name], init[name], f"`{name}`, made without an rng")
    bare = submission.parameters({**OPTIONS, "bias": False}, seed)
    _assert_names(bare, NAMES[::2], "the parameters with bias=False")


def _assert_names(state: dict[str, object], names: tuple[str, ...], what: str) -> None:
    if tuple(state) != tuple(names):
        found = ", ".join(state) or "none"
        fail(f"{what[0].upper()}{what[1:]}: expected {', '.join(names)}; found {found}.")


@check(
    kind="interface",
    why="Layers go by the output, pictures of attention by the weights; shapes tell them apart.",
)
def test_attend_returns_output_and_weights(submission: Submission, rng: Rng) -> None:
    """attend returns a tuple: output [B, Tq, d], weights [B, H, Tq, Tk]; float32 stays float32."""
    for dtype in (np.float32, np.float64):
        attend(submission, draw(rng, queries=4, keys=4, dtype=dtype))


@check(
    kind="interface",
    why="The same mask and the same sequences go through every layer of a model.",
)
def test_inputs_stay_as_they_are(submission: Submission, rng: Rng) -> None:
    """A call changes neither the sequences nor the mask."""
    mask = different_in_each_sequence(rng, 4, 4)[:, None]
    case = with_mask(draw(rng, queries=4, keys=4), mask)
    assert_unchanged(submission.observe("attend", *case.arguments))
    after_q, after_kv = submission.sequences_afterwards(*case.arguments)
    assert_equal(after_q, case.x_q, "`x_q` after the call")
    assert_equal(after_kv, case.x_kv, "`x_kv` after the call")


@check(
    kind="boundary",
    why="A wiring fault that is named where it happens is not searched for ten layers later.",
)
def test_validation(submission: Submission, rng: Rng) -> None:
    """Heads that do not tile d_model, wrong shapes and masks that are not boolean are refused."""
    for heads in (3, 16, 0, -2):
        call = partial(submission.parameters, {"d_model": 8, "n_heads": heads})
        _assert_refused(call, ValueError, ["n_heads"], f"{heads} heads for d_model=8")
    _assert_sequences_refused(submission, rng)
    _assert_masks_refused(submission, rng)
    _assert_packed_refused(submission, rng)


def _assert_sequences_refused(submission: Submission, rng: Rng) -> None:
    case = draw(rng)
    short, narrow = rng.numpy.standard_normal((5, 8)), rng.numpy.standard_normal((2, 5, 6))
    for wrong in (short, narrow, narrow[None]):
        what = f"an array of shape {list(wrong.shape)} for d_model=8"
        call = partial(submission.attend, OPTIONS, case.state, wrong, case.x_kv)
        _assert_refused(call, ValueError, ["x_q"], f"{what} as x_q")
        call = partial(submission.attend, OPTIONS, case.state, case.x_q, wrong)
        _assert_refused(call, ValueError, ["x_kv"], f"{what} as x_kv")
        call = partial(submission.split_heads, OPTIONS, wrong)
        _assert_refused(call, ValueError, ["x"], f"{what} in split_heads")
    three = rng.numpy.standard_normal((3, 5, 8))
    call = partial(submission.attend, OPTIONS, case.state, case.x_q, three)
    _assert_refused(call, ValueError, ["x_q", "x_kv"], "two sequences in x_q and three in x_kv")
    for shape in [(2, 3, 8), (2, 4, 3, 4), (2, 2, 3, 8)]:
        call = partial(submission.merge_heads, OPTIONS, rng.numpy.standard_normal(shape))
        what = f"an array of shape {list(shape)} in merge_heads, for two heads of width 4"
        _assert_refused(call, ValueError, ["x"], what)


def _assert_masks_refused(submission: Submission, rng: Rng) -> None:
    case = draw(rng)
    seen = np.ones((3, 5), bool)
    for wrong in (seen.astype(np.int64), np.where(seen, 0.0, -np.inf)):
        what = f"a mask of {wrong.dtype}"
        call = partial(submission.attend, *with_mask(case, wrong).arguments)
        _assert_refused(call, TypeError, ["mask"], what)
        call = partial(submission.head_mask, OPTIONS, wrong, 2, 3, 5)
        _assert_refused(call, TypeError, ["mask"], f"{what} in head_mask")
    for shape in [(5, 3), (3, 3, 5), (2, 1, 1, 3), (1, 2, 2, 3, 5)]:
        wrong = np.ones(shape, bool)
        what = f"a mask of shape {list(shape)} for B=2, H=2, Tq=3, Tk=5"
        call = partial(submission.attend, *with_mask(case, wrong).arguments)
        _assert_refused(call, ValueError, ["mask"], what)
        call = partial(submission.head_mask, OPTIONS, wrong, 2, 3, 5)
        _assert_refused(call, ValueError, ["mask"], f"{what}, in head_mask")


def _assert_packed_refused(submission: Submission, rng: Rng) -> None:
    case, bare = draw(rng), draw(rng, bias=False)
    weight, bias = rng.numpy.standard_normal((24, 8)), rng.numpy.standard_normal(24)
    for wrong in (weight.T, weight[:16]):
        call = partial(submission.load_packed, OPTIONS, case.state, wrong, bias)
        what = f"a packed weight of shape {list(wrong.shape)} for d_model=8"
        _assert_refused(call, ValueError, ["weight"], what)
    call = partial(submission.load_packed, OPTIONS, case.state, weight, bias[:8])
    _assert_refused(call, ValueError, ["bias"], "a packed bias of shape [8] for d_model=8")
    call = partial(submission.load_packed, bare.options, bare.state, weight, bias)
    _assert_refused(call, ValueError, ["bias"], "a packed bias for a module without biases")


def _assert_refused(call: Call, kind: type[Exception], names: list[str], what: str) -> None:
    """The call raises `kind`, with a message that names one of the arguments `names`."""
    listed = " or ".join(f"`{name}`" for name in names)
    try:
        call()
    except SubmissionError as error:
        if not isinstance(error, kind):
            found = f"{error.failure.kind}: {error}"
            fail(f"Given {what}: expected a {kind.__name__}, found {_quoted(found)}.")
        if not any(re.search(rf"\b{name}\b", str(error)) for name in names):
            fail(f"Given {what}: the message does not name {listed}: {_quoted(error)}.")
        return
    fail(f"Given {what}: expected a {kind.__name__} that names {listed}; nothing was raised.")


def _quoted(said: object) -> str:
    """What the code said, cut short, with everything that is no letter or sign written out."""
    return repr(str(said)[:200])
