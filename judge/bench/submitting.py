"""One submission of a measurement: sent, followed to its end, its verdict verified."""

from __future__ import annotations

import time
from dataclasses import dataclass

from judge.bench.work import Answer
from judge.client import Client
from judge.events import Finished, Restarted, TierFinished
from judge.results import Result
from judge.verdicts import Verdict

AFTER_THE_TIERS = ("diagnosis", "released")  # spans of what is judged that follow the last tier


class WrongVerdict(Exception):
    """A submission with a known verdict got another."""


@dataclass(frozen=True)
class Submitted:
    """What a submission took, from before the POST to an event of its stream."""

    id: str
    first_tier_ms: float
    finished_ms: float


def submit(client: Client, slug: str, answer: Answer) -> Submitted:
    """Submit and follow; raises `WrongVerdict` unless the verdict is as known."""
    started = time.perf_counter()
    submission = client.submit(slug, answer.files)
    first_tier_ms: float | None = None
    failing: str | None = None
    verdict = Verdict.JE
    for event in client.follow(submission):
        match event:
            case TierFinished():
                if first_tier_ms is None:
                    first_tier_ms = (time.perf_counter() - started) * 1000
                counts = event.tier not in answer.advisory
                if counts and failing is None and event.verdict not in (Verdict.AC, Verdict.SK):
                    failing = event.tier
            case Restarted():
                failing = None
            case Finished():
                verdict = event.verdict
    finished_ms = (time.perf_counter() - started) * 1000
    accepted = verdict is Verdict.AC
    if verdict is Verdict.JE or accepted is not (failing is None) or failing != answer.rejected_at:
        wanted = f"rejected at {answer.rejected_at}" if answer.rejected_at else "accepted"
        got = f"{verdict.value}{f' at {failing}' if failing else ''}"
        raise WrongVerdict(f"{answer.name} should be {wanted}, but the verdict was {got}")
    return Submitted(submission, first_tier_ms or finished_ms, finished_ms)


def judging_ms(result: Result) -> float:
    """Of one submission: from when a worker has claimed and read it to the end of its last tier."""
    spans = result.timing.spans
    return result.timing.judged_ms - sum(spans.get(name, 0.0) for name in AFTER_THE_TIERS)
