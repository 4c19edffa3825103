"""Small windows of arrays for people: at most six by six numbers around the one that matters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judge.checks.plain import Numbers, PlainArray
from judge.results import Table

MAX_SIDE = 6
_DIGITS = (6, 9, 12, 17)


def windows(
    expected: PlainArray, got: PlainArray, at: Sequence[int], differs: Numbers
) -> tuple[Table, Table]:
    """The same window of both arrays, around index `at`; shapes are equal.

    Numbers have six significant digits, or as many more as it takes to tell the two entries at
    `at` apart.
    """
    place = tuple(at)
    digits = _digits_to_tell_apart(expected.numbers[place], got.numbers[place])
    return (
        _window(expected, place, differs, digits),
        _window(got, place, differs, digits),
    )


def _window(array: PlainArray, at: tuple[int, ...], differs: Numbers, digits: int) -> Table:
    numbers, marks = _as_matrix(array.numbers, at), _as_matrix(differs, at)
    row, column = (0, 0, *at)[-2:]
    rows, columns = _span(row, numbers.shape[0]), _span(column, numbers.shape[1])
    shown = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    return Table(
        shape=list(array.shape),
        dtype=array.dtype,
        prefix=list(at[:-2]),
        row_labels=list(rows),
        column_labels=list(columns),
        rows=[[_printed(number, digits) for number in each] for each in numbers[shown].tolist()],
        differs=marks[shown].tolist(),
    )


def _as_matrix(numbers: Numbers, at: tuple[int, ...]) -> Numbers:
    """The last two axes around `at`; a vector is one row, a number one entry."""
    return np.atleast_2d(numbers[at[:-2]])


def _span(centre: int, size: int) -> range:
    start = min(max(centre - MAX_SIDE // 2, 0), max(size - MAX_SIDE, 0))
    return range(start, min(start + MAX_SIDE, size))


def _digits_to_tell_apart(one: np.generic, other: np.generic) -> int:
    for digits in _DIGITS:
        if _printed(one.item(), digits) != _printed(other.item(), digits):
            return digits
    return _DIGITS[0]


def _printed(number: complex, digits: int) -> str:
    """A boolean and an integer as they are, others to so many significant digits; NaN as such."""
    if isinstance(number, int):
        return str(number)
    if isinstance(number, float) and math.isnan(number):
        return "NaN"
    return f"{number:.{digits}g}"
