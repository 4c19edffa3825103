"""The events of one submission, gathered into its result."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judge.events import ChartDrawn, CheckFinished, Event, Finished, Restarted, TierFinished
from judge.grader.messages import CheckCard
from judge.own_tests import TESTS_TIER, TESTS_TITLE, suite_check, tests_events
from judge.problem import Problem
from judge.results import Chart, CheckResult, Environment, Kind, Result, TierResult, Timing
from judge.scratch import SCRATCH_TIER, SCRATCH_TITLE, scratch_check, scratch_events
from judge.verdicts import Verdict, first_failing


@dataclass
class Recording:
    """A submission on its way to a result: what is known at the start, then its events.

    `scratch` is true when no check is to run, but the student's scratch file.
    """

    problem: Problem
    kind: Kind
    seed: int
    environment: Environment
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    scratch: bool = False
    spans: dict[str, float] = field(default_factory=dict)
    checks: list[CheckCard] = field(default_factory=list)
    _results: dict[str, list[CheckResult]] = field(default_factory=dict)
    _tiers: dict[str, TierFinished] = field(default_factory=dict)
    _charts: list[Chart] = field(default_factory=list)
    _finished: Finished | None = None

    def add(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case CheckFinished(tier=tier, check=check):
                self._results.setdefault(tier, []).append(check)
            case TierFinished(tier=tier):
                self._tiers[tier] = event
            case ChartDrawn(chart=chart):
                self._charts.append(chart)
            case Restarted():
                self._results.clear()
                self._tiers.clear()
                self._charts.clear()
            case Finished():
                self._finished = event

    @property
    def was_too_slow(self) -> bool:
        """Whether a tier ran out of time, so far."""
        return any(tier.verdict is Verdict.TLE for tier in self._tiers.values())

    def refused(self, message: str, verdict: Verdict) -> Iterator[Event]:
        """The events that finish it without running anything: the first check says why."""
        tiers = [tier.id for tier in self.problem.tiers]
        if self.scratch:
            yield from scratch_events(scratch_check(verdict, message), tiers)
        elif self.kind == "tests":
            yield from tests_events([suite_check(verdict, message)], tiers)
        else:
            yield from _refused(self.checks, tiers, message, verdict)
        yield Finished(verdict=verdict, score=0.0)

    def result(self, judged_ms: float) -> Result:
        """The result of a finished submission."""
        finished = self._finished
        if finished is None:
            raise RuntimeError("the submission is not finished")
        return Result(
            id=self.id,
            problem=self.problem.slug,
            problem_version=self.problem.version,
            kind=self.kind,
            state="finished",
            verdict=finished.verdict,
            score=finished.score,
            tiers=[self._tier(tier, title, advisory) for tier, title, advisory in self._titles()],
            charts=self._charts,
            diagnosis=finished.diagnosis,
            mutation=finished.mutation,
            output=finished.output,
            seed=self.seed,
            limits=self.problem.limits_of(self.kind),
            timing=Timing(judged_ms=round(judged_ms, 3), spans=self.spans | finished.spans),
            environment=self.environment,
        )

    def _titles(self) -> Iterator[tuple[str, str, bool]]:
        """Of every tier its id, its title and whether it is advisory."""
        if self.scratch:
            yield SCRATCH_TIER, SCRATCH_TITLE, False
        if self.kind == "tests":
            yield TESTS_TIER, TESTS_TITLE, False
        yield from ((tier.id, tier.title, tier.advisory) for tier in self.problem.tiers)

    def _tier(self, tier: str, title: str, advisory: bool) -> TierResult:
        finished = self._tiers[tier]
        return TierResult(
            id=tier,
            title=title,
            verdict=finished.verdict,
            passed=finished.passed,
            total=finished.total,
            checks=self._results.get(tier, []),
            advisory=advisory,
        )


def _refused(
    checks: Sequence[CheckCard], tiers: Sequence[str], message: str, verdict: Verdict
) -> Iterator[Event]:
    """No check was run; the first one says why.

    Where the checks themselves are not known, one stands in for them.
    """
    known = checks or [CheckCard(tiers[0], "checks", "The checks can be run.", "interface", "")]
    for tier in tiers:
        results = [_not_run(card) for card in known if card.tier == tier]
        if tier == tiers[0]:
            results[:1] = [
                result.model_copy(update={"verdict": verdict, "message": message})
                for result in results[:1]
            ]
        for result in results:
            yield CheckFinished(tier=tier, check=result)
        yield TierFinished(
            tier=tier,
            verdict=first_failing(result.verdict for result in results),
            passed=0,
            total=len(results),
        )


def _not_run(card: CheckCard) -> CheckResult:
    return CheckResult(
        id=card.id, title=card.title, kind=card.kind, why=card.why, verdict=Verdict.SK
    )
