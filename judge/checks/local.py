"""A submission that runs in this very process: for the problem's own code only.

The reference, its mutants and the solutions kept in a problem folder are run this way by authors'
quick tests, by diagnosis and by the suite that compares local with remote judging. It confines
nothing, so nothing a student sent may be given to it.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from judge.checks.failures import require_usable, submission_error
from judge.checks.submission import (
    Array,
    ChangedArgument,
    Cost,
    Observation,
    Signature,
    Submission,
    element_bytes,
)
from sandbox.arrays import Subject, build, encode_result
from sandbox.protocol import Parameter, Setting
from sandbox.runner import counters
from sandbox.runner.calls import construct, use
from sandbox.runner.failures import describe_exception
from sandbox.runner.loading import load_submission


class LocalSubmission(Submission):
    """Functions and classes in this process. `sources` are the files they are from."""

    def __init__(self, names: Mapping[str, object], sources: Mapping[str, bytes]) -> None:
        self._names = dict(names)
        self._sources = dict(sources)

    @classmethod
    def from_sources(cls, files: Mapping[str, bytes], setting: Setting) -> LocalSubmission:
        """Import sources, as the runner does.

        Raises `sandbox.runner.loading.CompileRefused`, and whatever the code raises while it is
        imported.
        """
        return cls(load_submission(files, setting), files)

    def names(self) -> Sequence[str]:
        """The public callables."""
        public = self._names.items()
        return [name for name, value in public if callable(value) and not name.startswith("_")]

    def call(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Any:
        """What it raises becomes a `SubmissionError`; raises `UnusableResult`."""
        function = self._function(name)
        try:
            if subject is None:
                value = function(*args, **kwargs)
            else:
                value = _use(function, subject, args, kwargs)
        except Exception as error:  # whatever the judged code raises is its answer
            raise submission_error(describe_exception(error, self._sources)) from error
        return _as_received(value)

    def call_and_compare(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Observation:
        """Call and compare every array argument, bit for bit, with a copy."""
        named = list(_named_arrays(args, kwargs))
        before = [(label, array, _copy(array)) for label, array in named]
        value = self.call(name, args, kwargs, subject)
        changed = (
            ChangedArgument(label, copy, _copy(array))
            for label, array, copy in before
            if element_bytes(array) != element_bytes(copy)
        )
        return Observation(value, tuple(changed))

    def call_and_measure(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Cost:
        """The same, by this process's own clocks and pages.

        That takes in nothing of before the call, and nothing at all of memory that this process
        had at hand, free. Where the kernel does not let us lower the mark of the most memory ever
        held, what is still held after the call stands for it. So a peak is rather too low here.
        """
        status_fd = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            marked, before = counters.lower_own_mark(), counters.memory_in(status_fd)
            wall_s, cpu_s = time.perf_counter(), time.process_time()
            value = self.call(name, args, kwargs, subject)
            wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
            after = counters.memory_in(status_fd)
        finally:
            os.close(status_fd)
        most_bytes = (after.peak if marked else after.resident) - before.resident
        return Cost(value, wall_s * 1000, cpu_s * 1000, max(most_bytes, 0))

    def signature(self, name: str, /) -> Signature | None:
        """Read with `inspect`."""
        if name not in self.names():
            return None
        try:
            found = inspect.signature(self._function(name))
        except (TypeError, ValueError):
            return Signature(None)
        return Signature(tuple(_parameter(each) for each in found.parameters.values()))

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = self._names[name]  # type: ignore[assignment]  # of `names`
        return function


def _use(
    function: Callable[..., Any], subject: Subject, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> object:
    """Make the object and use it, with gradients to the very tensors that are its state."""
    made = construct(function, subject.args, subject.kwargs, subject.state, subject.training)
    if subject.state is None:
        return use(made, subject.method, subject.attributes, args, kwargs)
    state = {f"made.{name}": tensor for name, tensor in subject.state.items()}
    user = _Use(made, subject)
    return torch.func.functional_call(user, state, tuple(args), dict(kwargs), strict=False)


class _Use(torch.nn.Module):
    """What is done with a module, as a module around it: torch swaps parameters for calls only."""

    def __init__(self, made: torch.nn.Module, subject: Subject) -> None:
        super().__init__()
        self.made = made
        self._subject = subject

    def forward(self, *args: object, **kwargs: object) -> object:
        """Do it."""
        return use(self.made, self._subject.method, self._subject.attributes, args, kwargs)


def _as_received(value: object) -> object:
    """`value` as it would arrive from a runner, but with the live tensors and their graphs.

    Raises `UnusableResult` for what could not arrive.
    """
    encoded = encode_result(value)
    require_usable(encoded.value)
    return build(encoded.value, lambda ref: encoded.tensors[ref.index])


def _named_arrays(
    args: Sequence[object], kwargs: Mapping[str, object]
) -> Iterator[tuple[str | int, Array]]:
    labels: list[str | int] = [*range(len(args)), *kwargs]
    for label, value in zip(labels, [*args, *kwargs.values()], strict=True):
        if isinstance(value, torch.Tensor | np.ndarray):
            yield label, value


def _copy(array: Array) -> Array:
    return array.detach().clone() if isinstance(array, torch.Tensor) else array.copy()


def _parameter(parameter: inspect.Parameter) -> Parameter:
    has_default = parameter.default is not inspect.Parameter.empty
    return Parameter(parameter.name, parameter.kind.name, has_default)  # type: ignore[arg-type]
