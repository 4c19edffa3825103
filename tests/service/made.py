"""Things for tests to put into a store."""

from __future__ import annotations

import time
from pathlib import Path

from judge.events import CheckFinished, Finished, StreamEvent, TierFinished, TierStarted
from judge.problem import Problem, load_problem
from judge.results import CheckResult, Environment, Kind, Result, TierResult
from judge.service.records import Bounds, Claim, NewSubmission
from judge.service.store import Store
from judge.verdicts import Verdict
from tests.small_problem import write_problem

ROOMY = Bounds(queue_limit=10_000, student_limit=10_000, hourly_quota=0)
ENVIRONMENT = Environment(sandbox="docker/nested", image="sha256:1", torch="2", numpy="2")


def double(root: Path) -> Problem:
    """The small problem."""
    return load_problem(write_problem(root))


def new(
    problem: Problem,
    student: str = "ann",
    *,
    kind: Kind = "submit",
    key: str | None = None,
    request_hash: bytes = b"same",
) -> NewSubmission:
    """A submission of the reference."""
    return NewSubmission(
        student=student,
        open=False,
        kind=kind,
        problem=problem.slug,
        version=problem.version,
        seed=7,
        files={"solution.py": problem.reference},
        request_hash=request_hash,
        received_s=time.monotonic(),
        idempotency_key=key,
    )


async def accepted(store: Store, submission: NewSubmission, bounds: Bounds = ROOMY) -> int:
    """Accept it; the number of its judging."""
    await store.accept(submission, bounds)
    return await newest(store, submission.id)


async def newest(store: Store, submission_id: str) -> int:
    """The number of its newest judging."""
    stored = await store.submission(submission_id)
    assert stored is not None
    return stored.judging.id


async def claimed(store: Store, judging: int, worker: str = "w") -> Claim:
    """Claim it, which must be possible."""
    claim = await store.claim(judging, worker)
    assert claim is not None
    return claim


def result(claim: Claim, problem: Problem, verdict: Verdict = Verdict.AC) -> Result:
    """A finished result."""
    tier = TierResult(id="T0", title="Interface", verdict=verdict, passed=1, total=1, checks=[])
    return Result(
        id=claim.submission,
        problem=claim.problem,
        problem_version=claim.version,
        kind=claim.kind,
        state="finished",
        verdict=verdict,
        score=1.0,
        tiers=[tier],
        seed=claim.seed,
        limits=problem.limits,
        environment=ENVIRONMENT,
    )


def events(verdict: Verdict = Verdict.AC) -> list[StreamEvent]:
    """The events of one attempt."""
    check = CheckResult(id="c", title="It holds.", kind="unit", why="", verdict=verdict)
    return [
        TierStarted(tier="T0"),
        CheckFinished(tier="T0", check=check),
        TierFinished(tier="T0", verdict=verdict, passed=1, total=1),
        Finished(verdict=verdict, score=1.0),
    ]


async def finish(
    store: Store, claim: Claim, problem: Problem, verdict: Verdict = Verdict.AC
) -> bool:
    """Store a verdict, with nothing but the last event left to write."""
    whole = events(verdict)
    return await store.finish(claim, result(claim, problem, verdict), whole[-1:], whole)
