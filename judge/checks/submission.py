"""The code under judgement, as a check sees it."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from judge.checks.failures import fail
from sandbox.arrays import Subject, numpy_of
from sandbox.protocol import STATE, Parameter
from sandbox.text import printable

Array = torch.Tensor | np.ndarray


@dataclass(frozen=True)
class ChangedArgument:
    """An array argument that a call changed: its name, or position from 0, and plain copies."""

    name: str | int
    before: Array
    after: Array


@dataclass(frozen=True)
class Observation:
    """A call's result, and the array arguments that are not as they were."""

    value: Any
    changed: tuple[ChangedArgument, ...]


@dataclass(frozen=True)
class Cost:
    """What a call returned, and what it cost as measured from outside of the judged code.

    `wall_ms` is the time from the question to the whole answer, `cpu_ms` what all its threads
    together computed meanwhile. `peak_bytes` is the most memory that was held at any time since
    the code was loaded, beyond what was there before; freeing does not lower it. Both contain what
    it takes to receive the arguments and to send the result.
    """

    value: Any
    wall_ms: float
    cpu_ms: float
    peak_bytes: int


@dataclass(frozen=True)
class Signature:
    """A callable's parameters in order; None when Python cannot tell (some builtins)."""

    parameters: tuple[Parameter, ...] | None

    def accepts(self, positional: int, keywords: Sequence[str] = ()) -> bool:
        """Whether a call with so many positional arguments and these keywords can bind."""
        if self.parameters is None:
            return True
        return _missing(self.parameters, positional, keywords) is None

    def problem_with(self, positional: int, keywords: Sequence[str] = ()) -> str | None:
        """In words, why such a call cannot bind; None when it can."""
        if self.parameters is None:
            return None
        return _missing(self.parameters, positional, keywords)


class Submission(ABC):
    """Calls the functions of the code under judgement, and uses its modules.

    ``submission.f(x, y=2)`` calls its function `f`, ``submission.module("C", 8)`` is for classes.
    What that raises arrives as `SubmissionError`. Results are plain: tensors, numpy arrays,
    numbers, text, None, tuples, lists and dicts of those; anything else ends the check with
    `UnusableResult`. `torch.autograd.grad` works on returned tensors (without `create_graph`).
    """

    @abstractmethod
    def names(self) -> Sequence[str]:
        """The public callables it defines."""

    @abstractmethod
    def call(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Any:
        """Call its function `name`, which exists; or make an object of that class and use it."""

    @abstractmethod
    def call_and_compare(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Observation:
        """The same, and compare array arguments afterwards."""

    @abstractmethod
    def call_and_measure(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Cost:
        """The same, and measure what it costs; see `measure`."""

    @abstractmethod
    def signature(self, name: str, /) -> Signature | None:
        """The parameters of its callable `name`; None when there is no such callable."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        self.require(name)
        return lambda *args, **kwargs: self.call(name, args, kwargs, None)

    def observe(self, name: str, /, *args: Any, **kwargs: Any) -> Observation:
        """Call its function `name` and compare array arguments, bit for bit, afterwards."""
        self.require(name)
        return self.call_and_compare(name, args, kwargs, None)

    def measure(self, name: str, /, *args: Any, **kwargs: Any) -> Cost:
        """Call its function `name` and measure what that costs.

        The first measurement of a check begins in a fresh process, where calls from before have
        held more than is held now; their gradients can no more be asked for. The next ones follow
        in the same process, whose peak never falls: measure from small to large.

        A peak contains what importing the code took, what it keeps, and some MB of libraries that
        it uses first. It is exact to about one MB, so measure calls that take more. Give it a limit
        as it is: one peak minus another proves nothing, since a submission can waste memory in the
        smaller call. Times are those of one call on a busy machine: take the least of several.
        """
        self.require(name)
        return self.call_and_measure(name, args, kwargs, None)

    def module(self, name: str, /, *args: Any, **kwargs: Any) -> Module:
        """An object of its class `name`, constructed with these arguments whenever it is used."""
        self.require(name, "class")
        return Module(self, name, Subject(args, kwargs))

    def require(self, name: str, kind: str = "function") -> None:
        """Fail, in words, when it does not define the callable `name`, which is a `kind`."""
        names = self.names()
        if name not in names:
            fail(_missing_name(name, kind, names))


@dataclass(frozen=True)
class Module:
    """A `torch.nn.Module` of the code under judgement: a description, made anew for every use.

    That every call stands alone is what lets a diagnosis repeat it on known mistakes. Calling it
    calls the object itself, as ``module(x)`` does. Gradients reach the arguments and, with
    `with_state`, the tensors that were loaded.
    """

    submission: Submission
    name: str
    subject: Subject

    def with_state(self, state: Mapping[str, torch.Tensor]) -> Module:
        """The same with `state` loaded (strictly); it takes on the dtype of the state."""
        return replace(self, subject=replace(self.subject, state=dict(state)))

    def in_mode(self, *, training: bool) -> Module:
        """The same in training or in evaluation mode; as constructed otherwise."""
        return replace(self, subject=replace(self.subject, training=training))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object."""
        return self.submission.call(self.name, args, kwargs, self.subject)

    def observe(self, *args: Any, **kwargs: Any) -> Observation:
        """Call it and compare array arguments, bit for bit, afterwards."""
        return self.submission.call_and_compare(self.name, args, kwargs, self.subject)

    def measure(self, *args: Any, **kwargs: Any) -> Cost:
        """Make it, call it and measure what both cost together, as `Submission.measure` does."""
        return self.submission.call_and_measure(self.name, args, kwargs, self.subject)

    def method(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call one of its methods."""
        return self.submission.call(self.name, args, kwargs, replace(self.subject, method=method))

    def state(self) -> dict[str, torch.Tensor]:
        """Its parameters and buffers by name, in order, detached."""
        found = self.method(STATE)
        if not isinstance(found, dict) or not all(
            isinstance(value, torch.Tensor) for value in found.values()
        ):
            fail(f"`{self.name}.state_dict()` does not return tensors by name.")
        return {name: tensor.detach() for name, tensor in found.items()}

    def attributes(self, *names: str) -> tuple[Any, ...]:
        """The values of its attributes, which are plain ones or tensors."""
        found: tuple[Any, ...] = self.submission.call(
            self.name, (), {}, replace(self.subject, attributes=names)
        )
        return found


def element_bytes(array: Array) -> bytes:
    """The elements in order, as bytes: equal only where no bit differs."""
    if isinstance(array, torch.Tensor):
        array = numpy_of(array)
    return array.tobytes()


def _missing_name(name: str, kind: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" It does define `{printable(close[0], 80)}`; was that meant?" if close else ""
    return f"The solution does not define a {kind} `{name}`.{hint}"


def _missing(
    parameters: tuple[Parameter, ...], positional: int, keywords: Sequence[str]
) -> str | None:
    by_position = [p for p in parameters if p.kind.startswith("POSITIONAL")]
    takes_more = any(p.kind == "VAR_POSITIONAL" for p in parameters)
    if positional > len(by_position) and not takes_more:
        return f"it takes {len(by_position)} positional arguments, and {positional} are passed"
    by_name = {p.name for p in parameters if p.kind in ("POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY")}
    takes_any_name = any(p.kind == "VAR_KEYWORD" for p in parameters)
    for keyword in keywords:
        if keyword not in by_name and not takes_any_name:
            return f"it has no parameter called `{keyword}`"
    filled = {p.name for p in by_position[:positional]} | set(keywords)
    for parameter in parameters:
        required = not parameter.has_default and not parameter.kind.startswith("VAR")
        if required and parameter.name not in filled:
            return f"it needs an argument `{printable(parameter.name, 80)}` that is not passed"
    return None
