"""What the runs of a student's tests come to: a verdict for each test, and the grade of all.

Words here are for the student. A mutant that no test noticed is told by its symptom alone: its
title, its whole name, or the difference it makes in the code would be the test's answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from judge.checks.charts import Charts
from judge.grader.grading import frames_detail
from judge.grader.messages import OwnTestsPack
from judge.grader.runner import load_words, out_of_memory
from judge.grader.trials import Trial
from judge.own_tests import TESTS_TIER, grade_check, suite_check
from judge.results import Chart, CheckResult, Mutation
from judge.verdicts import Verdict, first_failing
from sandbox.protocol import Failure, OwnTest, RefusedTests
from sandbox.text import one_line, printable

MAX_SAID = 1000  # characters of what a test raised: enough for an assert, not for a source
MAX_NAMED = 12  # symptoms in a message; all are in the result
_FAILS = "This test fails on a right solution, so it would refuse right answers."
_FLAKY = (
    "This test does not always come to the same result on the same right solution. Make it "
    "independent of chance, and of the tests that ran before it."
)
_INSISTS = (
    "This test passes on one right solution and fails on another: it insists on one way of writing "
    "it, or looks inside. Test what the contract promises."
)
_OTHER_TESTS = (
    "Which tests there are changes from one run to the next. Use parameters that are always the "
    "same."
)
_NO_TESTS = (
    "No tests were found. A test is a function whose name begins with `test_`, in a file such as "
    "tests/test_own.py."
)
# Where pytest leaves something out it names an option, which a student cannot give.
_ADVICE_LINES = ("...Full output truncated", "Use -v to get more diff")
_ADVICE = re.compile(r", use -v\S*(?: to show)?(?:\.\.\.)?$", re.MULTILINE)  # also cut short
_NO_MEMORY = "This test ran out of memory."

_CHART_TITLE = "Which test notices which mistake"
_BLUE = "#0072B2"
_NOTICED, _MISSED = "noticed", "not noticed"


def tests_of(trials: Iterable[Trial]) -> list[OwnTest]:
    """The tests, as they were first found on the reference; none before."""
    found = (trial.tests for trial in trials if trial.variant.role == "reference")
    return next((tests for tests in found if tests), [])


def judge_trials(
    trials: Sequence[Trial], own: OwnTestsPack
) -> tuple[list[CheckResult], Mutation | None]:
    """The checks of the tests' tier; and the grade, where it came to one.

    Of tests that were not graded because some are flaky, the grade holds nothing but these.
    """
    tests = tests_of(trials)
    right = [trial for trial in trials if trial.variant.is_right]
    references = [trial for trial in right if trial.variant.role == "reference"]
    if (refused := _refused(references, right)) is not None:
        return [refused], None
    if any(trial.tests is not None and trial.tests != tests for trial in references):
        return [suite_check(Verdict.WA, _OTHER_TESTS)], None
    checks = [_test_result(test, right) for test in tests]
    if first_failing(check.verdict for check in checks) is not Verdict.AC:
        return checks, _ungraded(tests, references, own)
    mutation = _graded(trials, own)
    missed = [mutant for mutant in mutation.must_kill if mutant in mutation.survivors]
    if mutation.score >= mutation.threshold and not missed:
        return [*checks, grade_check(Verdict.AC, "")], mutation
    return [*checks, grade_check(Verdict.WA, _grade_words(mutation, missed))], mutation


# --- tests that cannot be run -------------------------------------------------------------------


def _refused(references: Sequence[Trial], right: Sequence[Trial]) -> CheckResult | None:
    """Why nothing is known of any test, if that is how it ended: on the reference, if there too."""
    for trial in (*references, *right):
        if trial.refusal is not None:
            return _refusal_check(trial, trial.refusal)
        if trial.tests is None and trial.fault is not None:
            detail = frames_detail(trial.fault.failure)
            return suite_check(trial.fault.verdict, _on(trial, trial.fault.message), detail)
        if not trial.tests:
            return suite_check(Verdict.WA, _NO_TESTS)
    return None


def _refusal_check(trial: Trial, refusal: RefusedTests) -> CheckResult:
    failure, detail = refusal.failure, frames_detail(refusal.failure)
    if refusal.stage == "rule":
        return suite_check(Verdict.RV, printable(failure.message), detail)
    verdict, said = load_words(refusal.stage, failure)
    insists = trial.variant.role == "alternative" and refusal.stage == "import"
    if insists and verdict is Verdict.CE:
        verdict, said = Verdict.WA, f"{_INSISTS}\n{_said(failure)}"
    return suite_check(verdict, f"{one_line(refusal.file)}: {said}", detail)


def _on(trial: Trial, said: str) -> str:
    return f"On another right solution: {said}" if trial.variant.role == "alternative" else said


# --- one test -----------------------------------------------------------------------------------


def _test_result(test: OwnTest, right: Sequence[Trial]) -> CheckResult:
    verdict, message, failure = _test_outcome(test.name, right)
    ran = [trial.wall_ms[test.name] for trial in right if test.name in trial.wall_ms]
    return CheckResult(
        id=test.name,
        title=test.title or test.name,
        kind="test",
        why="",
        verdict=verdict,
        message=message,
        detail=frames_detail(failure),
        wall_ms=round(min(ran, default=0.0), 3),
    )


def _test_outcome(name: str, right: Sequence[Trial]) -> tuple[Verdict, str, Failure | None]:
    """Verdict and words for one test, and what it raised: on the reference, then on the others."""
    references = [trial for trial in right if trial.variant.role == "reference"]
    for trial in (*references, *right):
        if trial.running == name and trial.fault is not None:
            return trial.fault.verdict, _on(trial, trial.fault.message), trial.fault.failure
    failed = [trial for trial in right if name in trial.failures]
    if not failed:
        ran = any(name in trial.wall_ms for trial in right)
        return Verdict.AC if ran else Verdict.SK, "", None
    failure = failed[0].failures[name]
    if out_of_memory(failure):
        return Verdict.MLE, _NO_MEMORY, failure
    if name in _flaky([name], references):
        words = _FLAKY
    else:
        words = _FAILS if any(trial in references for trial in failed) else _INSISTS
    return Verdict.WA, f"{words}\n{_said(failure)}", failure


def _flaky(names: Iterable[str], references: Sequence[Trial]) -> list[str]:
    """Tests that did not come to the same result each time they ran on the reference."""
    return [
        name
        for name in names
        if len({name in trial.failures for trial in references if name in trial.wall_ms}) > 1
    ]


def _said(failure: Failure) -> str:
    """What a test raised; of an assert that failed, what it says."""
    message = printable(_without_advice(failure.message), MAX_SAID)
    if "AssertionError" in (failure.kind, *failure.bases) or failure.kind == "Failed":
        return message or "An assert failed."
    return f"{one_line(failure.kind)}: {message}".removesuffix(": ")


def _without_advice(message: str) -> str:
    """What pytest says of an assert, but for how to be shown more."""
    lines = _ADVICE.sub("", message).split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith(_ADVICE_LINES)).rstrip()


# --- the grade ----------------------------------------------------------------------------------


def _graded(trials: Sequence[Trial], own: OwnTestsPack) -> Mutation:
    names = [test.name for test in tests_of(trials)]
    killed_by = {
        trial.variant.mutant.id: set(trial.failing(names))
        for trial in trials
        if trial.variant.mutant is not None
    }
    survivors = [mutant.id for mutant in own.mutants if not killed_by[mutant.id]]
    return Mutation(
        score=1 - len(survivors) / len(own.mutants) if own.mutants else 1.0,
        threshold=own.threshold,
        tests=names,
        mutants=[mutant.id for mutant in own.mutants],
        matrix=[[name in killed_by[mutant.id] for mutant in own.mutants] for name in names],
        survivors=survivors,
        must_kill=list(own.must_kill),
        symptoms={mutant.id: mutant.symptom for mutant in own.mutants},
        titles={mutant.id: mutant.title for mutant in own.mutants if killed_by[mutant.id]},
    )


def _ungraded(
    tests: Sequence[OwnTest], references: Sequence[Trial], own: OwnTestsPack
) -> Mutation | None:
    flaky = _flaky([test.name for test in tests], references)
    if not flaky:
        return None
    return Mutation(
        score=0.0,
        threshold=own.threshold,
        tests=[test.name for test in tests],
        mutants=[],
        matrix=[[] for _ in tests],
        survivors=[],
        must_kill=list(own.must_kill),
        flaky=flaky,
    )


def _grade_words(mutation: Mutation, missed: Sequence[str]) -> str:
    total = len(mutation.mutants)
    killed = total - len(mutation.survivors)
    share, asked = math.floor(mutation.score * 100), math.ceil(mutation.threshold * 100)
    counts = f"{killed} of {total} known mistakes, {share} %; at least {asked} % are asked for"
    lines = [f"Your tests notice {counts}."]
    others = [mutant for mutant in mutation.survivors if mutant not in missed]
    if missed:
        lines += ["These may not be missed:", *_symptoms(mutation, missed)]
    if others:
        lines += ["Nor is this noticed:" if missed else "This is not noticed:"]
        lines += _symptoms(mutation, others)
    return "\n".join(lines)


def _symptoms(mutation: Mutation, mutants: Sequence[str]) -> list[str]:
    named = [f"- {mutation.symptoms[mutant]}" for mutant in mutants[:MAX_NAMED]]
    rest = len(mutants) - len(named)
    return [*named, f"- and {rest} more"] if rest else named


# --- the chart ----------------------------------------------------------------------------------


def matrix_chart(mutation: Mutation) -> Chart:
    """Tests by mutants: which test notices which. A tick tells, for whom the colours do not."""
    rows: list[dict[str, JsonValue]] = [
        {"test": test, "mistake": mutant, "result": _NOTICED if noticed else _MISSED}
        for test, row in zip(mutation.tests, mutation.matrix, strict=True)
        for mutant, noticed in zip(mutation.mutants, row, strict=True)
    ]
    charts = Charts("submission")
    charts.record("mutants", title=_CHART_TITLE, spec=_chart_spec(), table=rows)
    (recorded,) = charts.recorded
    return Chart(
        id=recorded.id,
        tier=TESTS_TIER,
        title=recorded.title,
        source=charts.source,
        spec=recorded.spec,
        table=recorded.table,
    )


def _chart_spec() -> dict[str, JsonValue]:
    looks: dict[str, JsonValue] = {"domain": [_NOTICED, _MISSED], "range": [_BLUE, f"{_BLUE}00"]}
    fill: dict[str, JsonValue] = {
        "field": "result", "type": "nominal", "scale": looks, "legend": {"title": None},
    }  # fmt: skip
    field: dict[str, JsonValue] = {
        "mark": {"type": "rect", "stroke": _BLUE, "strokeWidth": 1, "strokeOpacity": 0.4},
        "encoding": {"fill": fill},
    }
    tick: dict[str, JsonValue] = {"test": f"datum.result === '{_NOTICED}'", "value": "✓"}
    sign: dict[str, JsonValue] = {
        "mark": {"type": "text", "fontWeight": 600},
        "encoding": {
            "text": {"condition": tick, "value": ""},
            "color": {"value": "#ffffff"},
        },
    }
    return {
        "description": "A row for each of your tests, a column for each known mistake; a tick "
        "where the test fails on it, as it should.",
        "width": {"step": 34},
        "height": {"step": 24},
        "encoding": {
            "x": _place("mistake", {"title": "known mistake", "orient": "top", "labelAngle": -40}),
            "y": _place("test", {"title": None}),
        },
        "layer": [field, sign],
    }


def _place(field: str, axis: dict[str, JsonValue]) -> dict[str, JsonValue]:
    bare: dict[str, JsonValue] = {
        "domain": False, "ticks": False, "labelPadding": 6, "labelLimit": 260,
    }  # fmt: skip
    return {"field": field, "type": "nominal", "sort": None, "axis": {**bare, **axis}}
