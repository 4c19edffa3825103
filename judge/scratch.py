"""A scratch run: a student's own lines, run after the solution with its names defined.

A run may bring one more file, `scratch.py`. It is no part of any submission to an exercise: no
check sees it, and it counts nowhere. Its result is one tier of its own in front of the exercise's
tiers, none of which runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judge.events import CheckFinished, Event, TierFinished
from judge.results import CheckResult, Detail, Kind
from judge.verdicts import Verdict

SCRATCH_FILE = "scratch.py"
SCRATCH_TIER = "scratch"  # a tier of an exercise begins with a capital letter
SCRATCH_TITLE = "Scratch"


def takes_scratch(kind: Kind, names: Iterable[str]) -> bool:
    """Whether a scratch file may come with files of these names, which the exercise takes."""
    return kind == "run" and SCRATCH_FILE not in names


def has_scratch(files: Iterable[str], kind: Kind, names: Iterable[str]) -> bool:
    """Whether one of `files` is a scratch file; `names` are those the exercise takes."""
    return SCRATCH_FILE in files and takes_scratch(kind, names)


def scratch_check(
    verdict: Verdict, message: str = "", detail: Detail | None = None, wall_ms: float = 0.0
) -> CheckResult:
    """The one check of the scratch tier, as it ended."""
    return CheckResult(
        id=SCRATCH_TIER,
        title="The scratch file runs to its end.",
        kind="scratch",
        why="",
        verdict=verdict,
        message=message,
        detail=detail,
        wall_ms=round(wall_ms, 3),
    )


def scratch_events(check: CheckResult, tiers: Iterable[str]) -> Iterator[Event]:
    """What is said once the scratch file has ended; `tiers` are the exercise's."""
    passed = int(check.verdict is Verdict.AC)
    yield CheckFinished(tier=SCRATCH_TIER, check=check)
    yield TierFinished(tier=SCRATCH_TIER, verdict=check.verdict, passed=passed, total=1)
    for tier in tiers:
        yield TierFinished(tier=tier, verdict=Verdict.SK, passed=0, total=0)
