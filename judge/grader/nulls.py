"""Answers that take no work: the reference, with every array it returns replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from judge.checks import Observation, Signature, Submission
from sandbox.arrays import Subject

Array = torch.Tensor | np.ndarray
Replace = Callable[[Array, Array | None], object]  # from what is right, and the first argument


def _filled(value: float) -> Replace:
    # `x * 0` keeps the graph, so that gradients are there, and wrong
    return lambda right, _: right * 0 + np.asarray(value).astype(_plain_dtype(right)).item()


def _plain_dtype(array: Array) -> Any:
    return array.detach().numpy().dtype if isinstance(array, torch.Tensor) else array.dtype


def _random(right: Array, _: Array | None) -> object:
    drawn = np.random.default_rng(0).standard_normal(tuple(right.shape))
    return right * 0 + (torch.from_numpy(drawn) if isinstance(right, torch.Tensor) else drawn)


NULLS: dict[str, Replace] = {
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "constants": _filled(0.3),
    "nan": lambda right, _: right * np.nan,
    "infinite": lambda right, _: right * 0 + np.inf,
    "empty": lambda right, _: right[:0] if right.ndim else right,
    "broadcastable": lambda right, _: right[tuple(slice(1) for _ in right.shape)] * 0,
    "random": _random,
    "passed-through": lambda right, given: right * 0 if given is None else given,
    "none": lambda _right, _given: None,
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
