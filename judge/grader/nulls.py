"""Answers that take no work: the reference, with other floating-point numbers.

Those that it returns are replaced, in arrays and alone. Whole numbers and truth values stay: code
that returns nothing else has no null answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from judge.checks import Cost, Observation, Signature, Submission
from judge.grader.messages import Stand
from sandbox.arrays import Subject

Array = torch.Tensor | np.ndarray
SLIGHTLY = 1.001  # far outside of every tolerance, and too little to be seen
Replace = Callable[[Array, Array | None], object]  # from what is right, and the first argument


def _blank(right: Array) -> Any:
    """Zeros of its shape and dtype; of a tensor with its graph, whose gradients are then wrong."""
    return (torch if isinstance(right, torch.Tensor) else np).nan_to_num(right) * 0


def _filled(value: float) -> Replace:
    return lambda right, _: _blank(right) + value


def _random(right: Array, _: Array | None) -> object:
    drawn = np.random.default_rng(0).standard_normal(tuple(right.shape))
    if isinstance(right, torch.Tensor):
        return _blank(right) + torch.from_numpy(drawn).to(right.dtype)
    return _blank(right) + drawn.astype(right.dtype)


STANDS: dict[Stand, Replace] = {
    Stand.ZEROS: _filled(0.0),
    Stand.ONES: _filled(1.0),
    Stand.CONSTANTS: _filled(0.3),
    Stand.NAN: _filled(np.nan),
    Stand.INFINITE: _filled(np.inf),
    Stand.EMPTY: lambda right, _: (right if right.ndim else right[None])[:0],
    Stand.BROADCASTABLE: lambda right, _: _blank(right[tuple(slice(1) for _ in right.shape)]),
    Stand.RANDOM: _random,
    Stand.PASSED_THROUGH: lambda right, given: _blank(right) if given is None else given,
    Stand.NONE: lambda _right, _given: None,
    Stand.EXTRA_AXIS: lambda right, _: right[None],
    Stand.SLIGHTLY_OFF: lambda right, _: right * SLIGHTLY,
}


def _is_inexact(array: Array) -> bool:
    if isinstance(array, torch.Tensor):
        return array.dtype.is_floating_point or array.dtype.is_complex
    return array.dtype.kind in "fc"


@dataclass(frozen=True)
class Nulled(Submission):
    """`right` as far as it is called, but with other arrays. Parameters of modules stay."""

    right: Submission
    replace: Replace

    def names(self) -> Sequence[str]:
        """Those of `right`."""
        return self.right.names()

    def signature(self, name: str, /) -> Signature | None:
        """That of `right`."""
        return self.right.signature(name)

    def call(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Any:
        """What `right` answers, with other arrays."""
        return self._null(self.right.call(name, args, kwargs, subject), args, kwargs, subject)

    def call_and_compare(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Observation:
        """The same, and what `right` changed."""
        seen = self.right.call_and_compare(name, args, kwargs, subject)
        return replace(seen, value=self._null(seen.value, args, kwargs, subject))

    def call_and_measure(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], subject: Subject | None
    ) -> Cost:
        """The same, at the cost of `right`."""
        cost = self.right.call_and_measure(name, args, kwargs, subject)
        return replace(cost, value=self._null(cost.value, args, kwargs, subject))

    def _null(
        self,
        value: object,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        subject: Subject | None,
    ) -> object:
        if subject is not None and (subject.method == "state_dict" or subject.attributes):
            return value
        arrays = (each for each in (*args, *kwargs.values()) if isinstance(each, Array))
        return self._replaced(value, next(arrays, None))

    def _replaced(self, value: object, given: Array | None) -> object:
        if isinstance(value, float | np.floating):
            answer = self.replace(np.asarray(value), given)
            return type(value)(answer) if isinstance(answer, np.generic) else answer
        if isinstance(value, Array):
            return self.replace(value, given) if _is_inexact(value) else value
        if isinstance(value, tuple | list):
            return type(value)(self._replaced(each, given) for each in value)
        if isinstance(value, dict):
            return {key: self._replaced(each, given) for key, each in value.items()}
        return value
