"""A student's own tests: pytest files, graded by which known mistakes they notice.

Its result is one tier of its own in front of the exercise's tiers, none of which runs. The checks
of that tier are the tests, as they did on right solutions; after them stands what all of them
together notice. Tests that cannot be run at all have one check, which says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judge.events import CheckFinished, Event, TierFinished
from judge.results import CheckResult, Detail
from judge.verdicts import Verdict, first_failing

TESTS_TIER = "tests"  # a tier of an exercise begins with a capital letter
TESTS_TITLE = "Your tests"
SUITE_CHECK = "suite"
GRADE_CHECK = "mutants"
MAX_TEST_FILES = 16
MAX_TEST_NAME = 120  # characters
# A limit that was hit may have been hit because the machine was busy; these say something lasting.
_LASTING = frozenset({Verdict.AC, Verdict.WA, Verdict.RV})
_NUMBERED = re.compile(r"[a-z]{0,2}\d+")
_FILE_NAME = re.compile(r"tests/test_[A-Za-z0-9_]*\.py")


@dataclass(frozen=True)
class TierOfTests:
    """The one tier that tests are."""

    id: str = TESTS_TIER
    title: str = TESTS_TITLE
    advisory: bool = False


@dataclass(frozen=True)
class OwnTestsShown:
    """What is shown, while tests are graded, in the place of an exercise."""

    tiers: tuple[TierOfTests, ...] = (TierOfTests(),)


OWN_TESTS = OwnTestsShown()


def is_tests_file(name: str) -> bool:
    """Whether a file called so can be handed in as tests: `tests/test_....py`."""
    return len(name) <= MAX_TEST_NAME and _FILE_NAME.fullmatch(name) is not None


def public_names(mutants: Sequence[str]) -> dict[str, str]:
    """What mutants are called where students see them: nothing that tells the mistake.

    Their ids begin with a number in a course (``s05-...``); where such beginnings do not tell them
    apart, or are words, they are numbered.
    """
    numbers = [name.partition("-")[0] for name in mutants]
    if len({*numbers}) < len(numbers) or not all(map(_NUMBERED.fullmatch, numbers)):
        numbers = [f"m{number}" for number, _ in enumerate(mutants, 1)]
    return dict(zip(mutants, numbers, strict=True))


def is_lasting(verdict: Verdict) -> bool:
    """Whether the same tests would come to this grade again, whatever else the machine does."""
    return verdict in _LASTING


def suite_check(verdict: Verdict, message: str, detail: Detail | None = None) -> CheckResult:
    """The one check of tests that cannot be run."""
    return CheckResult(
        id=SUITE_CHECK,
        title="Your tests can be run.",
        kind="tests",
        why="Only what runs can be graded.",
        verdict=verdict,
        message=message,
        detail=detail,
    )


def grade_check(verdict: Verdict, message: str) -> CheckResult:
    """What all tests together notice."""
    return CheckResult(
        id=GRADE_CHECK,
        title="Your tests notice known mistakes.",
        kind="tests",
        why="A test is worth what it would notice.",
        verdict=verdict,
        message=message,
    )


def tests_events(checks: Sequence[CheckResult], tiers: Iterable[str]) -> Iterator[Event]:
    """What is said once the tests have been judged; `tiers` are the exercise's."""
    for check in checks:
        yield CheckFinished(tier=TESTS_TIER, check=check)
    yield TierFinished(
        tier=TESTS_TIER,
        verdict=first_failing(check.verdict for check in checks),
        passed=sum(check.verdict is Verdict.AC for check in checks),
        total=len(checks),
    )
    for tier in tiers:
        yield TierFinished(tier=tier, verdict=Verdict.SK, passed=0, total=0)
