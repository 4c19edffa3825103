"""Answers that take no work: the reference, with every array it returns replaced."""

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


def _filled(value: float) -> Replace:
    # `x * 0` keeps the graph, so that gradients are there, and wrong
    return lambda right, _: right * 0 + np.asarray(value).astype(_plain_dtype(right)).item()


def _plain_dtype(array: Array) -> Any:
    return array.detach().numpy().dtype if isinstance(array, torch.Tensor) else array.dtype


def _random(right: Array, _: Array | None) -> object:
    drawn = np.random.default_rng(0).standard_normal(tuple(right.shape))
    return right * 0 + (torch.from_numpy(drawn) if isinstance(right, torch.Tensor) else drawn)


STANDS: dict[Stand, Replace] = {
    Stand.ZEROS: _filled(0.0),
    Stand.ONES: _filled(1.0),
    Stand.CONSTANTS: _filled(0.3),
    Stand.NAN: lambda right, _: right * np.nan,
    Stand.INFINITE: lambda right, _: right * 0 + np.inf,
    Stand.EMPTY: lambda right, _: right[:0] if right.ndim else right,
    Stand.BROADCASTABLE: lambda right, _: right[tuple(slice(1) for _ in right.shape)] * 0,
    Stand.RANDOM: _random,
    Stand.PASSED_THROUGH: lambda right, given: right * 0 if given is None else given,
    Stand.NONE: lambda _right, _given: None,
    Stand.EXTRA_AXIS: lambda right, _: right[None],
    Stand.SLIGHTLY_OFF: lambda right, _: right * SLIGHTLY,
}


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
        if isinstance(value, Array):
            floats = (
                value.dtype.is_floating_point
                if isinstance(value, torch.Tensor)
                else (value.dtype.kind == "f")
            )
            return self.replace(value, given) if floats else value
        if isinstance(value, tuple | list):
            return type(value)(self._replaced(each, given) for each in value)
        if isinstance(value, dict):
            return {key: self._replaced(each, given) for key, each in value.items()}
        return value
