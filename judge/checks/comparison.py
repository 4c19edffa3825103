"""Assertions on arrays that say what is off, by how much and where.

The rule of every comparison: exact type, then shape, then dtype, then no NaN or infinity, and only
then ``|x - e| <= atol + rtol * |e|`` in every entry. Nothing broadcasts. Expected values must be
finite and not empty, or the comparison would hold for anything: that is the author's error and
raises ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from judge.checks.failures import CheckFailure, fail
from judge.checks.margins import note_margin
from judge.checks.plain import (
    LIBRARY_NAMES,
    Dtype,
    Numbers,
    PlainArray,
    capital,
    described,
    dtype_name,
    kind_of,
    plain,
)
from judge.checks.submission import ChangedArgument, Observation
from judge.checks.tables import windows
from judge.results import Detail, Number
from judge.tolerances import EXACT, GRADIENT_ATOL, TOLERANCES, Tolerance


def tolerance_for(dtype: Dtype | str, *, gradient: bool = False) -> Tolerance:
    """The tolerance of a dtype; integers and booleans have none."""
    name = dtype_name(dtype)
    tolerance = TOLERANCES.get(name, EXACT)
    if gradient and name in GRADIENT_ATOL:
        return replace(tolerance, atol=GRADIENT_ATOL[name])
    return tolerance


def assert_close(
    actual: object,
    expected: object,
    what: str = "the output",
    *,
    rtol: float | None = None,
    atol: float | None = None,
    gradient: bool = False,
    dtype: Dtype | None = None,
) -> None:
    """`actual` equals `expected` within the tolerance of its dtype.

    `what` names it in messages. `dtype` is the one `actual` must have where `expected` is of
    higher precision. Raises `CheckFailure`; ValueError for an expectation that proves nothing.
    """
    want = _expectation(expected)
    name = dtype_name(dtype) if dtype is not None else want.dtype
    tolerance = tolerance_for(name, gradient=gradient)
    tolerance = Tolerance(
        tolerance.rtol if rtol is None else rtol, tolerance.atol if atol is None else atol
    )
    got = _structured(actual, what, want.library, want.shape, name)
    _compare(got, want, what, tolerance)


def assert_equal(actual: object, expected: object, what: str = "the output") -> None:
    """`actual` equals `expected` in every entry, without tolerance."""
    assert_close(actual, expected, what, rtol=0.0, atol=0.0)


def assert_array(
    actual: object,
    what: str = "the output",
    *,
    shape: Sequence[int],
    dtype: Dtype,
) -> None:
    """`actual` is a plain array on the CPU of exactly this shape and dtype, of dtype's library."""
    library = "torch" if isinstance(dtype, torch.dtype) else "numpy"
    found = described(actual, what)
    _refuse_other(actual, what, found, (library, dtype_name(dtype), tuple(shape)))


def assert_finite(actual: object, what: str = "the output") -> None:
    """`actual` is an array with something in it, and no NaN or infinity."""
    got = plain(actual, what)
    if got.numbers.size == 0:
        fail(f"{capital(what)}: expected numbers, found an empty array of shape {list(got.shape)}.")
    _refuse_not_finite(got, got, what)


def assert_zero_where(actual: object, where: object, what: str = "the output") -> None:
    """`actual` is exactly zero wherever the boolean array `where`, broadcast to it, is True.

    Raises ValueError when `where` selects nothing.
    """
    got = plain(actual, what)
    selected = np.broadcast_to(plain(where, "where").numbers, got.shape)
    if not selected.any():
        raise ValueError("`where` selects nothing, so this would hold for anything")
    wrong = selected & ~(got.numbers == 0)
    if wrong.any():
        _report_not_zero(got, wrong, what)


def assert_tuple(actual: object, length: int, what: str = "the result") -> tuple[Any, ...]:
    """`actual` is a tuple of `length`; returns it."""
    if not isinstance(actual, tuple):
        fail(f"{capital(what)}: expected a tuple of {length}, found {kind_of(actual)}.")
    if len(actual) != length:
        fail(f"{capital(what)}: expected a tuple of {length}, found one of {len(actual)}.")
    return actual


def assert_unchanged(observation: Observation) -> None:
    """The call left every array that was passed to it as it was, bit for bit."""
    if not observation.changed:
        return
    names = ", ".join(_argument(change) for change in observation.changed)
    one = len(observation.changed) == 1
    message = f"The call changed {names}. {'It has' if one else 'They have'} to stay as passed."
    raise CheckFailure(message, _change_detail(observation.changed[0]))


# --- steps of a comparison ------------------------------------------------------------------------


def _expectation(expected: object) -> PlainArray:
    want = plain(expected, "the expected value")
    if want.numbers.size == 0:
        raise ValueError("the expected array is empty, so anything would pass")
    if not np.isfinite(want.numbers).all():
        raise ValueError("the expected array is not finite, so anything would pass")
    return want


def _structured(
    actual: object, what: str, library: str, shape: tuple[int, ...], dtype: str
) -> PlainArray:
    """The numbers of `actual`, after its library, shape and dtype are found to be right."""
    got = plain(actual, what)
    _refuse_other(actual, what, (got.library, got.dtype, got.shape), (library, dtype, shape))
    return got


def _refuse_other(
    actual: object,
    what: str,
    found: tuple[str, str, tuple[int, ...]],
    wanted: tuple[str, str, tuple[int, ...]],
) -> None:
    """Fail unless library, dtype and shape are the wanted ones; in words, for the first of them."""
    if found == wanted:
        return
    (library, dtype, shape), (want_library, want_dtype, want_shape) = found, wanted
    if library != want_library:
        name = LIBRARY_NAMES[want_library]
        fail(f"{capital(what)}: expected a {name}, found {kind_of(actual)}.")
    if shape != want_shape:
        message = f"{capital(what)}: expected shape {list(want_shape)}, found {list(shape)}."
        fail(message, Detail(expected=f"shape {list(want_shape)}", got=f"shape {list(shape)}"))
    message = f"{capital(what)}: expected dtype {want_dtype}, found {dtype}."
    fail(message, Detail(expected=f"dtype {want_dtype}", got=f"dtype {dtype}"))


def _refuse_not_finite(got: PlainArray, want: PlainArray, what: str) -> None:
    finite = np.isfinite(got.numbers)
    if finite.all():
        return
    wrong = ~finite
    at = _first(wrong)
    kind = "NaN" if np.isnan(got.numbers[wrong]).any() else "infinity"
    count = f"{wrong.sum()} of {wrong.size} entries are NaN or infinite"
    message = f"{capital(what)}: {count}, the first at {at}."
    shown, seen = windows(want, got, at, wrong)
    size: Number = "NaN" if kind == "NaN" else "Infinity"
    # Compared with itself there is no expectation to show.
    fail(message, Detail(expected=None if want is got else shown, got=seen, max_abs=size, at=at))


def _compare(got: PlainArray, want: PlainArray, what: str, tolerance: Tolerance) -> None:
    error, size = _distance(got, want), np.abs(want.numbers)
    limit = np.asarray(tolerance.atol + tolerance.rtol * size)
    within = error <= limit
    holds = bool(within.all())
    if not holds:  # what is not finite is never within
        _refuse_not_finite(got, want, what)
    note_margin(what, got.dtype, error, limit)
    if not holds:
        _report(got, want, what, tolerance, error, size, ~within)


def _distance(got: PlainArray, want: PlainArray) -> Numbers:
    """How far each entry is off; for integers and booleans never less than 1 where they differ."""
    if not want.is_exact:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.abs(got.numbers - want.numbers))
    one, other = got.numbers.astype(np.float64), want.numbers.astype(np.float64)
    # Two large integers may be the same float, so whether they differ is asked of the originals.
    return np.where(got.numbers == want.numbers, 0.0, np.maximum(np.abs(one - other), 1.0))


def _report(
    got: PlainArray,
    want: PlainArray,
    what: str,
    tolerance: Tolerance,
    error: Numbers,
    size: Numbers,
    wrong: Numbers,
) -> None:
    """Fail with the largest errors among the entries that break the limit."""
    at = _place(np.argmax(np.where(wrong, error, -1.0)), error.shape)
    max_abs = float(error[tuple(at)])
    with np.errstate(over="ignore"):  # a huge error of a tiny number: infinitely many times it
        relative = np.divide(error, size, out=np.full(error.shape, np.inf), where=size > 0)
    max_rel = float(np.max(relative[wrong]))
    limit = "exact equality" if tolerance == EXACT else str(tolerance)
    shown, seen = windows(want, got, at, wrong)
    message = f"{capital(what)}: largest error {max_abs:.3g} at {at}; the limit is {limit}."
    fail(
        message,
        Detail(
            expected=shown,
            got=seen,
            max_abs=_number(max_abs),
            max_rel=_number(max_rel),
            at=at,
            limit=limit,
        ),
    )


def _report_not_zero(got: PlainArray, wrong: Numbers, what: str) -> None:
    error = np.where(wrong, np.abs(got.numbers), -1.0)
    at = _place(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    value = got.numbers[tuple(at)]
    shown, seen = windows(replace(got, numbers=np.where(wrong, 0, got.numbers)), got, at, wrong)
    message = f"{capital(what)}: expected exactly zero, found {value:.3g} at {at}."
    fail(message, Detail(expected=shown, got=seen, max_abs=_number(float(np.abs(value))), at=at))


def _change_detail(change: ChangedArgument) -> Detail:
    before, after = plain(change.before, "before"), plain(change.after, "after")
    different = ~((before.numbers == after.numbers) | (_nan(before) & _nan(after)))
    if before.shape != after.shape or not different.any():
        return Detail()
    at = _first(different)
    shown, seen = windows(before, after, at, different)
    return Detail(expected=shown, got=seen, at=at)


def _nan(array: PlainArray) -> Numbers:
    return np.isnan(array.numbers)


def _argument(change: ChangedArgument) -> str:
    if isinstance(change.name, str):
        return f"the argument `{change.name}`"
    return f"argument {change.name + 1}"


def _first(marks: Numbers) -> list[int]:
    return _place(np.argmax(marks), marks.shape)


def _place(flat: np.intp, shape: tuple[int, ...]) -> list[int]:
    return [int(index) for index in np.unravel_index(flat, shape)]


def _number(value: float) -> Number:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
