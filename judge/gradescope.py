"""A result as `results.json`, which Gradescope reads from an autograder.

Points: `POINTS` in all, the same for every check of a tier that counts, so that the sum is the
submission's score. Checks of advisory tiers are listed and give none.

Everything is visible to the student, as on our own page: Gradescope hides the total from students
as long as any test that gives points is hidden. What the autograder itself prints is hidden.

Gradescope has no verdict that is our fault. The format demands a score, on the whole or on each
test; a result of ours that is JE has neither, so that nobody is charged: what it leaves is a
message, and a run to be repeated.

Fields: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field
from rich.console import Console, Group

from judge.render import failing_check, first_failing_check, headline, printed_output, safe, show
from judge.results import CheckResult, Record, Result, TierResult
from judge.verdicts import Verdict

POINTS = 100.0
WIDTH = 100  # columns of the text of a check
DIGITS = 4  # after the point, of the points of a check
SCORE_DIGITS = 2  # ... and of their sum

Visibility = Literal["hidden", "after_due_date", "after_published", "visible"]
TextFormat = Literal["text", "html", "simple_format", "md", "ansi"]


class GradescopeTest(Record):
    """One entry of `tests`: a check."""

    name: str
    number: str
    score: float | None = None
    max_score: float = Field(ge=0)
    status: Literal["passed", "failed"] | None = None
    output: str = ""
    output_format: TextFormat = "text"
    visibility: Visibility = "visible"
    tags: list[str] = []


class ExtraData(Record):
    """What is kept beside the points: enough to replay the verdict."""

    problem: str
    problem_version: str
    verdict: str
    seed: int


class GradescopeResults(Record):
    """All of `results.json`. `execution_time` is in seconds; None is left out."""

    score: float | None = None
    execution_time: float | None = None
    output: str = ""
    output_format: TextFormat = "text"
    test_output_format: TextFormat = "text"
    test_name_format: TextFormat = "text"
    visibility: Visibility = "visible"
    stdout_visibility: Visibility = "hidden"
    tests: list[GradescopeTest] | None = None
    extra_data: ExtraData | None = None


def gradescope_results(result: Result) -> GradescopeResults:
    """A finished result for Gradescope; ValueError when it is not finished."""
    outcome = result.outcome
    extra = ExtraData(
        problem=result.problem,
        problem_version=result.problem_version,
        verdict=outcome.value,
        seed=result.seed,
    )
    if outcome is Verdict.JE:
        return GradescopeResults(output=_our_fault(result), extra_data=extra)
    tests = list(_tests(result))
    return GradescopeResults(
        score=round(sum(test.score or 0.0 for test in tests), SCORE_DIGITS),
        execution_time=round(result.timing.judged_ms / 1000, 3),
        output=_plain(Group(headline(result, "your submission"), *_printed(result))),
        tests=tests,
        extra_data=extra,
    )


def unreadable_results(words: str) -> GradescopeResults:
    """For a folder that a student handed in without what was asked for: no points, and why."""
    return GradescopeResults(score=0.0, output=safe(words))


def write_gradescope(results: GradescopeResults, path: Path) -> None:
    """Write `results.json` as a whole, in place of an earlier one. Raises `OSError`."""
    text = results.model_dump_json(exclude_none=True, indent=2) + "\n"
    descriptor, made = tempfile.mkstemp(dir=path.absolute().parent, prefix=".results.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).chmod(0o644)  # others read it, and mkstemp lets nobody
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink()
        raise


# --- tests ----------------------------------------------------------------------------------------


def _tests(result: Result) -> Iterator[GradescopeTest]:
    counted = sum(len(_checks(tier)) for tier in result.tiers if _counts(tier))
    shares = _shares(counted)
    deciding = first_failing_check(result)
    for number, tier in enumerate(result.tiers, start=1):
        for place, check in enumerate(_checks(tier), start=1):
            share = next(shares) if _counts(tier) else 0.0
            is_deciding = deciding is not None and check is deciding[1]
            passed = check.verdict is Verdict.AC
            yield GradescopeTest(
                name=safe(f"{tier.id} {tier.title}: {check.title}"),
                number=f"{number}.{place}",
                score=share if passed else 0.0,
                max_score=share,
                status="passed" if passed else "failed",
                output=_output(result, tier, check, hints=is_deciding),
                tags=[tier.id],
            )


def _counts(tier: TierResult) -> bool:
    """Whether a tier is part of the score."""
    return not tier.advisory


def _checks(tier: TierResult) -> list[CheckResult]:
    """The checks of a tier; one that stands for it where it was ended before any was known."""
    if tier.checks:
        return tier.checks
    verdict = tier.verdict or Verdict.SK
    return [CheckResult(id=tier.id, title="all checks", kind="", why="", verdict=verdict)]


def _shares(count: int) -> Iterator[float]:
    """`POINTS` in `count` equal parts that have few digits and add up to it exactly."""
    before = 0.0
    for number in range(1, count + 1):
        until = round(POINTS * number / count, DIGITS)
        yield round(until - before, DIGITS)
        before = until


def _output(result: Result, tier: TierResult, check: CheckResult, *, hints: bool) -> str:
    """What the student reads about one check; the hint for a known mistake at the deciding one."""
    if check.verdict is Verdict.AC:
        return ""
    if check.verdict is Verdict.SK:
        return "Not run: what it builds on was not accepted."
    known = result.diagnosis if hints else []
    return _plain(Group(*failing_check(tier, check, known)))


def _printed(result: Result) -> Iterator[Group]:
    """What the submission printed, if anything."""
    if result.output.text:
        yield Group(*printed_output(result.output))


def _our_fault(result: Result) -> str:
    deciding = first_failing_check(result)
    message = deciding[1].message if deciding else ""
    return safe(
        "This was our fault, not yours: your submission could not be judged, and no points are "
        "given or taken. Ask your instructor to run the autograder again.\n\n" + message
    ).rstrip()


def _plain(group: Group) -> str:
    """What a terminal would show, as plain text."""
    file = io.StringIO()
    console = Console(file=file, width=WIDTH, color_system=None, markup=False, highlight=False)
    show(console, group)
    return file.getvalue().strip("\n")
