"""What dies on our side is replaced, and the submission is judged again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.events import CheckFinished, Event, Restarted
from judge.judging import Judge
from judge.verdicts import Verdict
from sandbox.boxes import Box, Launcher
from tests.judging.tiny import tiny_problem

COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
SLOWLY = b"import time\n\ndef double(x):\n    time.sleep(0.3)\n    return x + x\n"


@pytest.fixture
def own_judge(launcher: Launcher) -> Iterator[Judge]:
    """A judge whose boxes a test may kill."""
    with Judge.start(launcher) as judge:
        yield judge


def runner_box(judge: Judge) -> Box:
    box = judge._slots[0]._box
    assert box is not None
    return box


def grader_box(judge: Judge) -> Box:
    assert judge._grader is not None
    return judge._grader._box


@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_killed_while_judging_costs_the_student_nothing(
    own_judge: Judge, tmp_path: Path, which: object
) -> None:
    assert callable(which)
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, CheckFinished) and not any(
            isinstance(each, Restarted) for each in events
        ):
            threading.Thread(target=which(own_judge).kill).start()

    result = own_judge.judge(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC
    assert [tier.passed for tier in result.tiers] == [1, 2]
    assert any(isinstance(event, Restarted) for event in events)


@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_killed_while_idle_is_replaced(
    own_judge: Judge, tmp_path: Path, which: object
) -> None:
    assert callable(which)
    problem = tiny_problem(tmp_path, COMPARES)
    which(own_judge).kill()
    assert own_judge.judge(problem, {"solution.py": SLOWLY}).verdict is Verdict.AC


def test_a_run_executes_only_what_the_problem_shows(own_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    result = own_judge.judge(problem, {"solution.py": SLOWLY}, kind="run")
    assert (result.kind, result.verdict) == ("run", Verdict.AC)
    assert [tier.total for tier in result.tiers] == [1, 0]
