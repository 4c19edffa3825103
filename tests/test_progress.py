from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from judge.events import Event, Queued, Restarted, Started, TierFinished, TierStarted
from judge.problem import Problem, load_problem
from judge.progress import LineProgress, LiveProgress, SilentProgress
from judge.verdicts import Verdict
from tests.small_problem import MANIFEST, write_problem

ATTEMPT: list[Event] = [
    TierStarted(tier="T0"),
    TierFinished(tier="T0", verdict=Verdict.AC, passed=1, total=1),
    TierStarted(tier="T1"),
]


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return load_problem(write_problem(tmp_path))


def screen(*, terminal: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=80, force_terminal=terminal, color_system=None), file


def test_in_a_pipe_each_finished_tier_is_a_line_and_a_lost_attempt_is_told(
    problem: Problem,
) -> None:
    console, file = screen(terminal=False)
    with LineProgress(console).following(problem, "[b]x.py") as listen:
        for event in [*ATTEMPT, Restarted(), *ATTEMPT]:
            listen(event)
        listen(TierFinished(tier="T1", verdict=Verdict.SK, passed=0, total=1))
    assert file.getvalue().splitlines() == [
        "[b]x.py: T0 Interface: AC 1/1",
        "[b]x.py: judging again",
        "[b]x.py: T0 Interface: AC 1/1",
        "[b]x.py: T1 Oracle: SK",
    ]


def test_in_a_pipe_a_tier_that_counts_for_nothing_is_marked(tmp_path: Path) -> None:
    manifest = MANIFEST.replace('requires = ["T0"]', 'requires = ["T0"]\nadvisory = true')
    advised = load_problem(write_problem(tmp_path, problem_toml=manifest))
    console, file = screen(terminal=False)
    with LineProgress(console).following(advised, "x.py") as listen:
        listen(TierFinished(tier="T1", verdict=Verdict.WA, passed=0, total=1))
    assert file.getvalue() == "x.py: T1 Oracle (advisory): WA 0/1\n"


def test_in_a_pipe_a_place_in_the_queue_is_told_once(problem: Problem) -> None:
    console, file = screen(terminal=False)
    with LineProgress(console).following(problem, "x.py") as listen:
        for ahead in (2, 2, 1, 1, 0):
            listen(Queued(ahead=ahead))
        listen(Started())
    assert file.getvalue().splitlines() == ["x.py: waiting, 2 ahead", "x.py: waiting, 1 ahead"]


def test_on_a_terminal_the_place_in_the_queue_goes_when_judging_starts(problem: Problem) -> None:
    console, file = screen(terminal=True)
    with LiveProgress(console).following(problem, "x.py") as listen:
        listen(Queued(ahead=2))
        assert "x.py: waiting, 2 ahead" in file.getvalue()
        listen(Queued(ahead=0))
        assert "x.py: waiting, next in line" in file.getvalue()
        file.seek(0)
        file.truncate()
        listen(Started())
        assert "waiting" not in file.getvalue()


def test_on_a_terminal_a_lost_attempt_empties_the_list(problem: Problem) -> None:
    console, file = screen(terminal=True)
    with LiveProgress(console).following(problem, "x.py") as listen:
        for event in ATTEMPT:
            listen(event)
        assert "1/1" in file.getvalue()
        file.seek(0)
        file.truncate()
        listen(Restarted())
        assert "x.py: judging again" in file.getvalue()
        assert "1/1" not in file.getvalue()


def test_nothing_is_shown_where_nothing_was_asked_for(
    problem: Problem, capsys: pytest.CaptureFixture[str]
) -> None:
    with SilentProgress().starting(), SilentProgress().following(problem, "x.py") as listen:
        listen(Restarted())
    assert capsys.readouterr() == ("", "")
