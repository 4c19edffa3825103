"""Comparisons cannot be fooled, and say what is off."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

from judge.checks import (
    ChangedArgument,
    CheckFailure,
    Observation,
    assert_array,
    assert_close,
    assert_equal,
    assert_finite,
    assert_tuple,
    assert_unchanged,
    assert_zero_where,
    tolerance_for,
)
from judge.results import Detail, Table
from sandbox.protocol import Strange

F64 = torch.float64


class AlwaysEqual(torch.Tensor):
    """Claims to be whatever it is compared with."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return torch.ones(3, dtype=F64)


class AlwaysEqualArray(np.ndarray):
    def __eq__(self, other: object) -> Any:
        return np.ones(self.shape, bool)

    __hash__ = None


def _ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=F64)


def _failure(actual: object, expected: object, **keywords: Any) -> CheckFailure:
    with pytest.raises(CheckFailure) as caught:
        assert_close(actual, expected, **keywords)
    return caught.value


def _detail(failure: CheckFailure) -> Detail:
    assert failure.detail is not None
    return failure.detail


def _table(part: str | Table | None) -> Table:
    assert isinstance(part, Table)
    return part


@pytest.mark.parametrize(
    "actual",
    [
        pytest.param(None, id="none"),
        pytest.param(1.0, id="number"),
        pytest.param([1.0, 1.0, 1.0], id="list"),
        pytest.param(Strange("Fake", "it is a subclass"), id="strange"),
        pytest.param(np.ones(3), id="numpy-for-torch"),
        pytest.param(torch.ones(3), id="float32"),
        pytest.param(torch.ones(3, dtype=torch.int64), id="integers"),
        pytest.param(torch.ones(3, dtype=torch.complex128), id="complex"),
        pytest.param(_ones(1), id="would-broadcast"),
        pytest.param(_ones(), id="scalar"),
        pytest.param(_ones(1, 3), id="one-more-axis"),
        pytest.param(_ones(0), id="empty"),
        pytest.param(_ones(3) * torch.nan, id="nan"),
        pytest.param(_ones(3) * torch.inf, id="infinite"),
        pytest.param(torch.tensor([1.0, 1.0, torch.nan], dtype=F64), id="one-nan"),
        pytest.param(_ones(3).as_subclass(AlwaysEqual), id="subclass"),
        pytest.param(_ones(3).to_sparse(), id="sparse"),
        pytest.param(_ones(3).to("meta"), id="meta"),
        pytest.param(_ones(3) + 2e-7, id="slightly-off"),
    ],
)
def test_what_is_not_the_expected_array_fails(actual: object) -> None:
    _failure(actual, _ones(3))


@pytest.mark.parametrize(
    "actual",
    [
        pytest.param(torch.ones(3, dtype=F64), id="torch-for-numpy"),
        pytest.param(np.ones(3).view(AlwaysEqualArray), id="subclass"),
        pytest.param(np.ma.masked_array(np.zeros(3), mask=True), id="masked"),
        pytest.param(np.array([1.0, 1.0, 1.0], dtype=object), id="objects"),
        pytest.param(np.float64(1.0), id="scalar"),
        pytest.param(np.ones((3, 0)), id="empty"),
    ],
)
def test_what_is_not_the_expected_numpy_array_fails(actual: object) -> None:
    _failure(actual, np.ones(3))


def test_equal_within_tolerance_passes_in_both_libraries_and_any_layout() -> None:
    assert_close(_ones(3) + 5e-8, _ones(3))
    assert_close(np.ones(3), np.ones(3))
    assert_close(torch.nn.Parameter(_ones(3)), _ones(3))
    assert_close(_ones(3, 2).T, _ones(2, 3))
    assert_close(torch.ones(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.bfloat16))
    assert_close(torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j]))
    assert_close(torch.ones(3), _ones(3), dtype=torch.float32)


@pytest.mark.parametrize("expected", [_ones(0), _ones(3) * torch.nan, _ones(3) * torch.inf])
def test_expectation_that_proves_nothing_is_the_authors_error(expected: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="anything would pass"):
        assert_close(expected, expected)


def test_message_and_detail_tell_the_largest_error_its_place_and_the_limit() -> None:
    expected = torch.arange(24, dtype=F64).reshape(2, 3, 4)
    actual = expected.clone()
    actual[0, 1, 3] += 0.41
    actual[1, 0, 0] += 1e-3
    failure = _failure(actual, expected, what="the output")
    assert failure.message == (
        "The output: largest error 0.41 at [0, 1, 3]; the limit is rtol 1e-07, atol 1e-09."
    )
    detail = _detail(failure)
    assert detail.max_abs == pytest.approx(0.41)
    assert detail.max_rel == pytest.approx(0.41 / 7)
    assert (detail.at, detail.limit) == ([0, 1, 3], "rtol 1e-07, atol 1e-09")
    table = _table(detail.got)
    assert (table.prefix, table.row_labels, table.column_labels) == ([0], [0, 1, 2], [0, 1, 2, 3])
    assert table.rows[1] == ["4", "5", "6", "7.41"]
    assert table.differs[1] == [False, False, False, True]
    assert _table(detail.expected).rows[1][3] == "7"


def test_relative_error_of_an_expected_zero_is_infinite() -> None:
    detail = _detail(_failure(_ones(2), _ones(2) * 0))
    assert (detail.max_abs, detail.max_rel) == (1.0, "Infinity")


def test_relative_error_beyond_all_numbers_is_infinite() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CheckFailure) as caught:
            assert_close(np.array([1e300]), np.array([1e-300]))
    assert _detail(caught.value).max_rel == "Infinity"


def test_table_is_at_most_six_by_six_around_the_worst_entry() -> None:
    actual = torch.zeros(3, 40, 50, dtype=F64)
    actual[2, 39, 0] = 1
    table = _table(_detail(_failure(actual, torch.zeros_like(actual))).got)
    assert table.row_labels == [34, 35, 36, 37, 38, 39]
    assert table.column_labels == [0, 1, 2, 3, 4, 5]
    assert (table.prefix, table.rows[5][0], table.differs[5][0]) == ([2], "1", True)


@pytest.mark.parametrize("shape", [(), (1,), (9,), (2, 2), (2, 1, 2, 1, 3)])
def test_every_rank_has_a_table(shape: tuple[int, ...]) -> None:
    detail = _detail(_failure(_ones(*shape), _ones(*shape) * 2))
    assert _table(detail.got).rows[0][0] == "1"
    assert len(detail.at or []) == len(shape)


def test_printed_numbers_have_enough_digits_to_differ() -> None:
    detail = _detail(_failure(_ones(1) + 2e-7, _ones(1)))
    assert _table(detail.expected).rows == [["1"]]
    assert _table(detail.got).rows == [["1.0000002"]]


def test_nan_is_shown_where_it_is() -> None:
    failure = _failure(torch.tensor([1.0, torch.nan], dtype=F64), _ones(2))
    assert failure.message == "The output: 1 of 2 entries are NaN or infinite, the first at [1]."
    detail = _detail(failure)
    assert (detail.max_abs, detail.at) == ("NaN", [1])
    assert _table(detail.got).rows == [["1", "NaN"]]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (torch.tensor([True]), "True"),
        (torch.tensor([2**60]), "1152921504606846976"),
        (torch.tensor([complex(1, 2)], dtype=torch.complex128), "1+2j"),
        (torch.tensor([complex(1, torch.nan)], dtype=torch.complex128), "1+nanj"),
        (torch.tensor([-torch.inf], dtype=F64), "-inf"),
    ],
)
def test_numbers_of_every_kind_are_printed(number: torch.Tensor, shown: str) -> None:
    other = torch.zeros_like(number)
    assert _table(_detail(_failure(number, other)).got).rows == [[shown]]


def test_integers_are_compared_exactly_also_where_floats_cannot() -> None:
    large = torch.tensor([2**60])
    assert_close(large, large)
    failure = _failure(large + 1, large)
    assert "exact equality" in failure.message
    assert _table(_detail(failure).got).rows == [[str(2**60 + 1)]]


def test_tolerance_follows_the_dtype() -> None:
    assert str(tolerance_for(F64)) == "rtol 1e-07, atol 1e-09"
    assert str(tolerance_for(np.float32)) == "rtol 0.0001, atol 1e-06"
    assert str(tolerance_for(torch.float32, gradient=True)) == "rtol 0.0001, atol 1e-05"
    assert str(tolerance_for("float64", gradient=True)) == "rtol 1e-07, atol 1e-09"
    assert_close(_ones(2) + 0.01, _ones(2), atol=0.1)


def test_a_table_keeps_what_was_found_when_it_was_compared() -> None:
    actual = _ones(2, 2).requires_grad_()
    with pytest.raises(CheckFailure) as caught:
        assert_equal(actual, _ones(2, 2) * 3)
    with torch.no_grad():
        actual.zero_()
    assert _table(_detail(caught.value).got).rows == [["1", "1"], ["1", "1"]]


def test_shape_and_dtype_are_told_in_words() -> None:
    with pytest.raises(CheckFailure, match=r"expected shape \[2, 3\], found \[3\]"):
        assert_array(_ones(3), "the weights", shape=(2, 3), dtype=F64)
    with pytest.raises(CheckFailure, match="expected dtype float32, found float64"):
        assert_array(_ones(3), shape=(3,), dtype=torch.float32)
    with pytest.raises(CheckFailure, match="expected a numpy array, found a torch tensor"):
        assert_array(_ones(3), shape=(3,), dtype=np.float64)
    with pytest.raises(CheckFailure, match="The output: expected an array, found None"):
        assert_array(None, shape=(3,), dtype=F64)


def test_finite_refuses_nan_and_emptiness() -> None:
    assert_finite(_ones(2))
    for bad in (_ones(0), _ones(2) * torch.nan, _ones(2) * -torch.inf):
        with pytest.raises(CheckFailure):
            assert_finite(bad)


def test_zero_where_looks_at_the_chosen_entries_only() -> None:
    actual = torch.tensor([[0.0, 1.0], [-0.0, 2.0]], dtype=F64)
    assert_zero_where(actual, torch.tensor([True, False]))
    with pytest.raises(CheckFailure, match=r"expected exactly zero, found 2 at \[1, 1\]"):
        assert_zero_where(actual, torch.tensor([False, True]))
    with pytest.raises(CheckFailure):
        assert_zero_where(actual * torch.nan, torch.tensor([True, False]))
    with pytest.raises(ValueError, match="selects nothing"):
        assert_zero_where(actual, torch.tensor([False, False]))


@pytest.mark.parametrize("value", [None, _ones(2), [1, 2], (1,), (1, 2, 3), Strange("X", "y")])
def test_anything_but_a_tuple_of_the_right_length_is_told_in_words(value: object) -> None:
    with pytest.raises(CheckFailure, match="expected a tuple of 2, found"):
        assert_tuple(value, 2)


def test_changed_argument_is_named_with_its_numbers() -> None:
    assert_unchanged(Observation(None, ()))
    change = ChangedArgument("mask", torch.tensor([True, False]), torch.tensor([True, True]))
    with pytest.raises(CheckFailure, match="The call changed the argument `mask`") as caught:
        assert_unchanged(Observation(None, (change,)))
    assert _table(_detail(caught.value).got).differs == [[False, True]]
    assert _table(_detail(caught.value).expected).rows == [["True", "False"]]


def test_changed_argument_may_differ_in_bits_alone() -> None:
    zero = torch.zeros(1)
    with pytest.raises(CheckFailure, match="argument 1"):
        assert_unchanged(Observation(None, (ChangedArgument(0, zero, -zero),)))
