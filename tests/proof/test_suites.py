"""Suites of student tests kept with an exercise, graded in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.problem import load_problem
from judge.results import Result
from judge.verdicts import Verdict

PROBLEM = load_problem(Path(__file__).parents[2] / "problems" / "l5-3-mha")


def graded(judge: Judge, suite: bytes) -> Result:
    return judge.judge(PROBLEM, {"tests/test_own.py": suite}, kind="tests")


# A sandbox shows in how a suite is run, which the others see in both, and not in what it notices.
in_one_sandbox = pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)


def suite(name: str) -> bytes:
    return PROBLEM.contents[f"suites/{name}.py"]


def test_a_good_suite_scores_everything(warm_judge: Judge) -> None:
    result = graded(warm_judge, suite("accepted/good"))
    assert (result.verdict, result.score) == (Verdict.AC, 1.0)
    assert result.mutation is not None
    assert result.mutation.survivors == []
    assert [chart.id for chart in result.charts] == ["mutants"]


@in_one_sandbox
def test_a_suite_that_misses_what_the_chapter_is_about_fails_above_the_threshold(
    warm_judge: Judge,
) -> None:
    result = graded(warm_judge, suite("rejected/no_batch_equals_heads"))
    assert result.verdict is Verdict.WA
    assert result.mutation is not None
    assert result.mutation.survivors == ["s05"]
    assert result.score > result.mutation.threshold == 0.8


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("rejected/always_fails", Verdict.WA, "This test fails on a right solution"),
        ("rejected/reads_source", Verdict.RV, "`inspect` cannot be imported here"),
    ],
)
def test_a_suite_that_is_no_test_is_refused(
    warm_judge: Judge, name: str, verdict: Verdict, words: str
) -> None:
    result = graded(warm_judge, suite(name))
    assert result.verdict is verdict
    messages = [check.message for check in result.tiers[0].checks]
    assert any(words in message for message in messages)
    assert result.score == 0


@in_one_sandbox
def test_what_the_starter_tests_passes_and_is_not_enough(warm_judge: Judge) -> None:
    result = graded(warm_judge, PROBLEM.starter(PROBLEM.files[1]))
    assert result.verdict is Verdict.WA
    assert result.mutation is not None
    assert {check.verdict for check in result.tiers[0].checks[:-1]} == {Verdict.AC}
