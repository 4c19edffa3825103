"""Problem versions that a grader holds open: so many, and the oldest makes room for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.events import CheckFinished, Event, Restarted
from judge.grader.messages import CloseProblem
from judge.grader_box import OPEN_VERSIONS
from judge.judging import Judge
from judge.verdicts import Verdict
from sandbox.bwrap_boxes import BwrapBox
from sandbox.watchdog import descendants
from tests.judging.boxes import grader_box, wait_until
from tests.judging.tiny import tiny_problem

COMPARES = "x = rng.normal({size})\nassert_close(submission.double(x), x + x)"
RIGHT = {"solution.py": b"def double(x):\n    return x + x\n"}
PROCESSES = 2  # of a version: the one that holds its checks, and the next job


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
def test_a_version_is_closed_when_too_many_are_open_and_opened_anew_when_it_is_needed(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problems = [
        tiny_problem(tmp_path / str(size), COMPARES.format(size=size))
        for size in range(1, OPEN_VERSIONS + 3)
    ]
    for problem in (*problems, problems[0]):
        assert warm_judge.judge(problem, RIGHT).verdict is Verdict.AC
    box = grader_box(warm_judge)
    assert isinstance(box, BwrapBox)
    wait_until(lambda: len(descendants(box.pid)) <= OPEN_VERSIONS * PROCESSES)


def test_a_job_under_way_goes_on_when_its_version_is_closed(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES.format(size=3), COMPARES.format(size=4))
    slowly = {
        "solution.py": b"import time\n\ndef double(x):\n    time.sleep(0.3)\n    return x + x\n"
    }
    events: list[Event] = []

    def listen(event: Event) -> None:
        if isinstance(event, CheckFinished) and not events:
            assert warm_judge._grader is not None
            warm_judge._grader._send(CloseProblem(problem.version))
            del warm_judge._grader._catalogues[problem.version]
        events.append(event)

    for _ in range(2):
        result = warm_judge.attempt(problem, slowly, on_event=listen)
        assert result.verdict is Verdict.AC
    assert not any(isinstance(event, Restarted) for event in events)
