"""A submission that runs in this very process: for the problem's own code only.

The reference, its mutants and the solutions kept in a problem folder are run this way by authors'
quick tests, by diagnosis and by the suite that compares local with remote judging. It confines
nothing, so nothing a student sent may be given to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import torch

from judge.checks.failures import require_usable, submission_error
from judge.checks.submission import (
    Array,
    ChangedArgument,
    Observation,
    Signature,
    Submission,
    element_bytes,
)
from sandbox.arrays import build, encode_result
from sandbox.protocol import Parameter
from sandbox.runner.failures import describe_exception
from sandbox.runner.loading import load_submission


class LocalSubmission(Submission):
    """The functions of a module in this process. `sources` are its files, for tracebacks."""

    def __init__(self, module: ModuleType, sources: Mapping[str, bytes]) -> None:
        self._module = module
        self._sources = dict(sources)

    @classmethod
    def from_sources(
        cls, files: Mapping[str, bytes], main: str, provided: bytes | None = None
    ) -> LocalSubmission:
        """Import sources, as the runner does.

        Raises `sandbox.runner.loading.CompileRefused`, and whatever the code raises while it is
        imported.
        """
        return cls(load_submission(dict(files), main, provided), files)

    def names(self) -> Sequence[str]:
        """The public callables of the module."""
        public = vars(self._module).items()
        return [name for name, value in public if callable(value) and not name.startswith("_")]

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function; what it raises becomes a `SubmissionError`; raises `UnusableResult`."""
        try:
            value = self._function(name)(*args, **kwargs)
        except Exception as error:  # whatever the judged code raises is its answer
            raise submission_error(describe_exception(error, self._sources)) from error
        return _as_received(value)

    def _observe(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        """Call a function and compare every array argument, bit for bit, with a copy."""
        named = list(_named_arrays(args, kwargs))
        before = [(label, array, _copy(array)) for label, array in named]
        value = self.call(name, *args, **kwargs)
        changed = (
            ChangedArgument(label, copy, _copy(array))
            for label, array, copy in before
            if element_bytes(array) != element_bytes(copy)
        )
        return Observation(value, tuple(changed))

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
        function: Callable[..., Any] = getattr(self._module, name)
        return function


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
