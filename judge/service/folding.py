"""Between a submission's events and its result, for readers that come early or late.

`unfinished` is the result so far of a submission that is still being judged; `replay` makes the
events of a finished one again, whose own have been deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from judge.events import (
    ChartDrawn,
    CheckFinished,
    Event,
    Finished,
    MutantFinished,
    Restarted,
    StreamEvent,
    TierFinished,
    TierStarted,
)
from judge.manifest import Manifest
from judge.own_tests import TESTS_TIER, TESTS_TITLE
from judge.results import Chart, CheckResult, Environment, Mutation, Result, TierResult
from judge.scratch import SCRATCH_TIER, SCRATCH_TITLE
from judge.service.records import Facts, StoredSubmission
from judge.verdicts import Verdict

NOWHERE_YET = Environment(sandbox="", image="", torch="", numpy="")


def unfinished(
    submission: StoredSubmission,
    manifest: Manifest,
    facts: Facts | None,
    events: Iterable[StreamEvent],
) -> Result:
    """The result so far: no verdict, but what has its verdict already.

    That it is a scratch run is known from its events.
    """
    current = _current_attempt(events)
    known = [(tier.id, tier.title, tier.advisory) for tier in manifest.tiers]
    if submission.kind == "tests":
        known.insert(0, (TESTS_TIER, TESTS_TITLE, False))
    elif any(isinstance(each, TierStarted) and each.tier == SCRATCH_TIER for each in current):
        known.insert(0, (SCRATCH_TIER, SCRATCH_TITLE, False))
    judging = submission.judging
    return Result(
        id=submission.id,
        problem=submission.problem,
        problem_version=judging.problem_version,
        kind=submission.kind,
        state=judging.state,
        verdict=None,
        score=0.0,
        tiers=[_tier(*tier, facts, current) for tier in known],
        charts=charts_of(current),
        seed=judging.seed,
        limits=manifest.limits,
        environment=NOWHERE_YET,
    )


def charts_of(events: Iterable[StreamEvent]) -> list[Chart]:
    """The charts among events."""
    return [event.chart for event in events if isinstance(event, ChartDrawn)]


def replay(result: Result) -> Iterator[Event]:
    """The events that a finished result was folded from, but for the order of its charts."""
    for tier in result.tiers:
        if any(check.verdict is not Verdict.SK for check in tier.checks):
            yield TierStarted(tier=tier.id)
        for check in tier.checks:
            yield CheckFinished(tier=tier.id, check=check)
        if tier.id == TESTS_TIER and result.mutation is not None:
            yield from _mutants(result.mutation)
        for chart in result.charts:
            if chart.tier == tier.id:
                yield ChartDrawn(chart=chart)
        yield TierFinished(
            tier=tier.id,
            verdict=tier.verdict or Verdict.SK,
            passed=tier.passed,
            total=tier.total,
        )
    yield Finished(
        verdict=result.outcome,
        score=result.score,
        diagnosis=result.diagnosis,
        mutation=result.mutation,
        output=result.output,
        spans=result.timing.spans,
    )


def _mutants(mutation: Mutation) -> Iterator[MutantFinished]:
    """Which tests noticed which mutant, as it was said while they ran."""
    for index, mutant in enumerate(mutation.mutants):
        rows = zip(mutation.tests, mutation.matrix, strict=True)
        yield MutantFinished(
            mutant=mutant,
            killed_by=[test for test, row in rows if row[index]],
            done=index + 1,
            total=len(mutation.mutants),
        )


def _current_attempt(events: Iterable[StreamEvent]) -> Sequence[StreamEvent]:
    """The events since the judging was last begun anew; what came before is void."""
    current: list[StreamEvent] = []
    for event in events:
        if isinstance(event, Restarted):
            current.clear()
        else:
            current.append(event)
    return current


def _tier(
    tier: str, title: str, advisory: bool, facts: Facts | None, events: Sequence[StreamEvent]
) -> TierResult:
    """A tier so far; its checks are counted from the catalogue until it has finished."""
    finished = next(
        (each for each in events if isinstance(each, TierFinished) and each.tier == tier), None
    )
    checks: list[CheckResult] = [
        each.check for each in events if isinstance(each, CheckFinished) and each.tier == tier
    ]
    known = sum(card.tier == tier for card in facts.checks) if facts else 0
    return TierResult(
        id=tier,
        title=title,
        verdict=finished.verdict if finished else None,
        passed=sum(check.verdict is Verdict.AC for check in checks),
        total=finished.total if finished else max(known, len(checks)),
        checks=checks,
        advisory=advisory,
    )
