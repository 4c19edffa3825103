"""What the grader says while it judges: a stream of events, in order, ending in `Finished`.

The grader yields them, whoever asked for the verdict keeps them. They are the only thing that
leaves the grader box, and they are built from the parts of a result (`judge.results`). `Restarted`
comes from outside the grader, when an attempt was lost. The service puts two more before them:
a stream begins with `Queued`, and with `Started` a worker has taken the submission.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from judge.results import Chart, CheckResult, Diagnosis, Mutation, Output, Record
from judge.verdicts import Verdict


class TierStarted(Record):
    """The checks of a tier are about to run."""

    type: Literal["tier_started"] = "tier_started"
    tier: str


class CheckFinished(Record):
    """One check of a tier has its verdict."""

    type: Literal["check_finished"] = "check_finished"
    tier: str
    check: CheckResult


class ChartDrawn(Record):
    """An experiment recorded a chart."""

    type: Literal["chart"] = "chart"
    chart: Chart


class TierFinished(Record):
    """A tier is complete; a tier that did not run is finished as SK without a start."""

    type: Literal["tier_finished"] = "tier_finished"
    tier: str
    verdict: Verdict
    passed: int
    total: int


class MutantFinished(Record):
    """The student's tests ran on a mutant: `killed_by` are those that failed.

    `done` of `total` mutants have been tried, this one included.
    """

    type: Literal["mutant_finished"] = "mutant_finished"
    mutant: str
    killed_by: list[str]
    done: int
    total: int


class Restarted(Record):
    """Something of ours failed: what came before is void. Judging starts anew, or ends as JE."""

    type: Literal["restarted"] = "restarted"


class Finished(Record):
    """The submission is judged."""

    type: Literal["finished"] = "finished"
    verdict: Verdict
    score: float
    diagnosis: list[Diagnosis] = []
    mutation: Mutation | None = None
    output: Output = Output()
    spans: dict[str, float] = {}


Event = Annotated[
    TierStarted | CheckFinished | ChartDrawn | TierFinished | MutantFinished | Restarted | Finished,
    Field(discriminator="type"),
]
EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Event])


class Queued(Record):
    """The submission waits for a worker; `ahead` others are judged before it."""

    type: Literal["queued"] = "queued"
    ahead: int


class Started(Record):
    """A worker has taken the submission."""

    type: Literal["started"] = "started"


StreamEvent = Annotated[
    Queued
    | Started
    | TierStarted
    | CheckFinished
    | ChartDrawn
    | TierFinished
    | MutantFinished
    | Restarted
    | Finished,
    Field(discriminator="type"),
]
STREAM_EVENT: TypeAdapter[StreamEvent] = TypeAdapter(StreamEvent)
