"""What a proof says of how near right and wrong answers come to the limits of comparisons."""

from __future__ import annotations

from pathlib import Path

from judge.grader.messages import ComparedMargin, Rehearsed, RehearsedCheck
from judge.problem import load_problem
from judge.proof.outcomes import Headroom
from judge.proof.places import Places
from judge.proof.rehearsed import headroom, headroom_case
from tests.small_problem import write_problem

CHECK = "test_t1_oracle::test_values"


def off_by(**shares: float) -> Rehearsed:
    """Answers that are so far off, in limits, in each comparison."""
    margins = [ComparedMargin(what, "float64", share) for what, share in shares.items()]
    error = "too far off" if any(share > 1 for share in shares.values()) else None
    return Rehearsed([RehearsedCheck("T1", CHECK, error, 1.0, False, margins)])


def row(reference: Rehearsed, *named: tuple[str, Rehearsed]) -> Headroom:
    """That of the comparison `out`."""
    (found,) = (each for each in headroom([reference], named) if each.what == "out")
    return found


def test_a_reference_near_a_limit_is_close() -> None:
    assert row(off_by(out=0.3)).close == "the reference is close to the limit"
    assert row(off_by(out=0.01)).close == ""


def test_a_mistake_is_close_only_where_no_other_comparison_notices_it_well(tmp_path: Path) -> None:
    right = off_by(out=1e-6, sums=1e-6)
    barely, well = ("tripled", off_by(out=1.2, sums=0.1)), ("tripled", off_by(out=1.2, sums=40.0))
    assert row(right, barely).close == "tripled is noticed by a hair"
    assert (row(right, well).nearest, row(right, well).close) == (1.2, "")
    # The table and the advice speak of the same mistakes.
    places = Places(load_problem(write_problem(tmp_path)))
    advised = [headroom_case(places, [], [each]).findings for each in (barely, well)]
    assert [len(findings) for findings in advised] == [1, 0]


def test_mutants_of_a_machine_can_be_the_nearest() -> None:
    rows = headroom([off_by(out=1e-6)], [("tripled", off_by(out=90.0))], [("2-a", off_by(out=7.0))])
    assert [(each.nearest, each.nearest_mutant) for each in rows] == [(7.0, "2-a")]
