"""A local submission behaves as one in a runner does, and exceptions keep their kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from judge.checks import (
    CheckFailure,
    LocalSubmission,
    SubmissionError,
    UnusableResult,
    assert_close,
    fail,
    gradients,
    submission_error,
)
from sandbox.protocol import (
    Failure,
    Setting,
)

SOURCE = b"""
import torch
from provided import double

def square(x, *, scale=1.0):
    return double(x) * x / 2 * scale

def pair(x, y):
    return x * y, [x.sum(), {"y": y}]

def change(x, y):
    x[0] = 5
    return y

def broken(kind):
    raise {"value": ValueError, "key": KeyError, "own": Own, "exit": SystemExit}[kind]("told why")

class Own(IndexError, RuntimeError):
    pass

class Fake(torch.Tensor):
    pass

def strange(x):
    return x.as_subclass(Fake)

def detached(x):
    return x.detach() * 2

_private = square
NUMBER = 3
"""
PROVIDED = b"def double(x):\n    return 2 * x\n"


@pytest.fixture
def local() -> LocalSubmission:
    return LocalSubmission.from_sources(
        {"solution.py": SOURCE}, Setting("solution.py", provided=PROVIDED)
    )


def test_functions_are_called_with_provided_names(local: LocalSubmission) -> None:
    x = torch.tensor([1.0, 3.0])
    assert_close(local.square(x), x * x, "the square")
    assert_close(local.square(x=x, scale=2.0), 2 * x * x, "the square")


def test_results_keep_their_structure_and_graph(local: LocalSubmission) -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    product, (total, named) = local.pair(x, torch.tensor([2.0, 4.0]))
    assert_close(named["y"], torch.tensor([2.0, 4.0]))
    found = gradients([product, total], {"x": x}, [torch.ones(2), torch.tensor(10.0)])
    assert_close(found["x"], torch.tensor([12.0, 14.0]))


def test_missing_gradient_is_told_in_words(local: LocalSubmission) -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(CheckFailure, match="The results are detached"):
        gradients([local.detached(x)], {"x": x}, [torch.ones(2)])
    with pytest.raises(CheckFailure, match="No gradient reaches `y`"):
        gradients([local.square(x)], {"x": x, "y": y}, [torch.ones(2)])


def test_subclass_never_reaches_the_check(local: LocalSubmission) -> None:
    with pytest.raises(UnusableResult, match="returned a Fake that cannot be used"):
        local.strange(torch.ones(2))


@pytest.mark.parametrize("make", [torch.zeros, np.zeros], ids=["torch", "numpy"])
def test_changed_inputs_are_observed(local: LocalSubmission, make: Any) -> None:
    seen = local.observe("change", make(3), y=make(3))
    (change,) = seen.changed
    assert (change.name, float(change.before[0]), float(change.after[0])) == (0, 0.0, 5.0)


def test_missing_name_is_told_with_the_closest_one(local: LocalSubmission) -> None:
    with pytest.raises(CheckFailure, match="does not define a function `squared`") as caught:
        local.squared(1)
    assert "does define `square`" in caught.value.message
    with pytest.raises(CheckFailure, match="function `NUMBER`"):
        local.NUMBER()
    with pytest.raises(AttributeError):
        local._private()


def test_signature_says_why_a_call_cannot_bind(local: LocalSubmission) -> None:
    assert local.signature("nothing") is None
    square = local.signature("square")
    assert square is not None
    assert square.accepts(1, ["scale"])
    assert square.problem_with(2) == "it takes 1 positional arguments, and 2 are passed"
    assert square.problem_with(0, ["scale"]) == "it needs an argument `x` that is not passed"
    assert square.problem_with(1, ["size"]) == "it has no parameter called `size`"


@pytest.mark.parametrize(
    ("kind", "matches"),
    [("value", ValueError), ("key", KeyError), ("key", LookupError), ("own", IndexError)],
)
def test_exception_matches_its_builtin_base(
    local: LocalSubmission, kind: str, matches: type[Exception]
) -> None:
    with pytest.raises(matches) as caught:
        local.broken(kind)
    assert isinstance(caught.value, SubmissionError)
    assert str(caught.value).strip("'") == "told why"
    assert [frame.function for frame in caught.value.failure.frames] == ["broken"]


def test_exception_that_would_end_a_session_matches_nothing() -> None:
    for name in ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "StopIteration", "Forged"):
        error = submission_error(Failure(kind=name, bases=[name, "BaseException"], message="m"))
        assert type(error) is SubmissionError


@pytest.mark.parametrize("name", ["OSError", "UnicodeError", "KeyError", "SyntaxError"])
def test_builtins_with_constructors_of_their_own_keep_the_message(name: str) -> None:
    error = submission_error(Failure(kind="Any", bases=[name, "Exception"], message="as told"))
    assert str(error) == "as told"
    assert type(error).__mro__[2].__name__ == name


def test_fail_carries_its_sentence() -> None:
    with pytest.raises(AssertionError, match="In words"):
        fail("In words.")
