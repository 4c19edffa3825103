"""Code of a problem's own, run beside its checks in a grader box."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.grader.messages import Rehearsal, Rehearsed, Stand
from judge.grader.nulls import STANDS
from judge.judging import Judge
from judge.problem import load_problem
from tests.small_problem import write_problem

RIGHT = b"def double(x):\n    return 2 * x\n"
VALUES = "test_t1_oracle::test_values"


@pytest.fixture
def rehearse(warm_judge: Judge, tmp_path: Path):  # type: ignore[no-untyped-def]
    problem = load_problem(write_problem(tmp_path))

    def run(source: bytes = RIGHT, seed: int = 1, **options: object) -> Rehearsed:
        given = {"patience_s": 5.0, "budget_s": 20.0, **options}
        return warm_judge.rehearse(problem, Rehearsal(source, **given), seed)  # type: ignore[arg-type]

    return run


def test_right_code_passes_every_check_with_room_to_spare(rehearse) -> None:  # type: ignore[no-untyped-def]
    done = rehearse()
    assert done.failures == {}
    assert [check.id.partition("::")[2] for check in done.checks] == ["test_call", "test_values"]
    assert [margin.share for margin in done.checks[1].margins] == [0.0]


def test_wrong_code_is_told_by_how_much(rehearse) -> None:  # type: ignore[no-untyped-def]
    done = rehearse(b"def double(x):\n    return 2 * x + 1e-6\n")
    assert list(done.failures) == [VALUES]
    assert 1 < done.checks[1].margins[0].share < 1000


def test_a_null_answer_replaces_what_is_returned(rehearse) -> None:  # type: ignore[no-untyped-def]
    assert list(rehearse(stand=Stand.ZEROS).failures) == [VALUES]


def test_the_first_failure_ends_it_when_that_is_all_one_wants(rehearse) -> None:  # type: ignore[no-untyped-def]
    wrong = b"def double(x):\n    raise OSError\n"
    assert len(rehearse(wrong).checks) == 2
    assert len(rehearse(wrong, first_failure_only=True).checks) == 1


def test_code_that_hangs_is_late_and_the_next_rehearsal_runs(rehearse) -> None:  # type: ignore[no-untyped-def]
    done = rehearse(b"def double(x):\n    while True: pass\n", patience_s=0.3)
    assert [check.late for check in done.checks] == [True, True]
    assert rehearse().failures == {}


def test_code_that_ends_its_process_is_refused(rehearse) -> None:  # type: ignore[no-untyped-def]
    done = rehearse(b"import os\ndef double(x):\n    os._exit(3)\n")
    assert (done.checks, done.refused.startswith("its process ended")) == ([], True)
    assert rehearse().failures == {}


def test_code_that_cannot_be_imported_is_refused(rehearse) -> None:  # type: ignore[no-untyped-def]
    assert rehearse(b"1 / 0\n").refused == "ZeroDivisionError: division by zero"
    assert "SyntaxError" in rehearse(b"def\n").refused


def test_an_order_changes_nothing_but_the_order(rehearse) -> None:  # type: ignore[no-untyped-def]
    orders = {tuple(check.id for check in rehearse(order=seed).checks) for seed in range(8)}
    assert len(orders) == 2


def test_every_stand_has_its_answer() -> None:
    assert set(STANDS) == set(Stand)
