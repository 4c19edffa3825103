"""What goes into the store and comes out of it, and what it refuses.

StoreError
+-- Refused         a submission that is not taken now; says when to come back
|   +-- QueueFull       everybody waits
|   +-- StudentLimit    this student has enough waiting
|   +-- HourlyQuota     this student has had enough for now
+-- KeyReused       an Idempotency-Key that came with something else before
+-- StillJudging    what is not judged yet cannot be judged again
+-- UnknownRow      what somebody asked about is not there
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

import msgspec

from judge.events import STREAM_EVENT, StreamEvent
from judge.grader.messages import CheckCard
from judge.results import Chart, Kind, Result, State
from judge.verdicts import Verdict

WorkerState = Literal["ready", "waiting", "stopping"]
TestsState = Literal["untouched", "failed", "passed"]
MAX_ATTEMPTS = 3
ID_BYTES = 16


class StoreError(Exception):
    """Base of what the store refuses."""


class Refused(StoreError):
    """Not now; `retry_after_s` says when it is worth asking again."""

    def __init__(self, words: str, retry_after_s: int) -> None:
        super().__init__(words)
        self.retry_after_s = retry_after_s


class QueueFull(Refused):
    """As many as may wait do."""


class StudentLimit(Refused):
    """As many of this student's as may wait do."""


class HourlyQuota(Refused):
    """The student has made as many submissions in the last hour as allowed."""


class KeyReused(StoreError):
    """The Idempotency-Key was used before, for another submission."""


class StillJudging(StoreError):
    """The newest judging is not finished."""


class UnknownRow(StoreError):
    """There is no such row."""


# --- what goes in and out -------------------------------------------------------------------------


@dataclass(frozen=True)
class Bounds:
    """How much may be waiting, in all and of one student; 0 per hour is no quota."""

    queue_limit: int
    student_limit: int
    hourly_quota: int


@dataclass(frozen=True)
class NewSubmission:
    """What a student sent, checked. `received_s` is `time.monotonic` when it arrived."""

    student: str
    open: bool
    kind: Kind
    problem: str
    version: str
    seed: int
    files: Mapping[str, bytes] = field(repr=False)
    request_hash: bytes
    received_s: float
    idempotency_key: str | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(ID_BYTES))


@dataclass(frozen=True)
class Accepted:
    """The id to ask for; `replayed` when it was accepted before, under the same key."""

    id: str
    replayed: bool


@dataclass(frozen=True)
class StoredJudging:
    """One pass over a submission."""

    id: int
    number: int
    state: State
    problem_version: str
    seed: int
    attempts: int
    worker: str | None
    created_at: datetime
    claimed_at: datetime | None
    finished_at: datetime | None
    verdict: Verdict | None
    score: float | None
    failed_tier: str | None
    judged_ms: float | None
    result: Result | None


@dataclass(frozen=True)
class StoredSubmission:
    """A submission, with its newest judging."""

    id: str
    student: str
    open: bool
    kind: Kind
    problem: str
    created_at: datetime
    judging: StoredJudging


class _Typed(msgspec.Struct):
    type: str


_TYPED = msgspec.json.Decoder(_Typed)


@dataclass(frozen=True)
class StoredEvent:
    """An event as it is stored, in JSON, with the id that a reader resumes from."""

    id: int
    data: str

    @cached_property
    def type(self) -> str:
        """Its type, read without all the rest."""
        return _TYPED.decode(self.data).type

    @property
    def event(self) -> StreamEvent:
        """The event itself; most readers only pass it on."""
        return STREAM_EVENT.validate_json(self.data)


@dataclass(frozen=True)
class Claim:
    """A judging that a worker has taken; `lease` is the number of this attempt, and `worker` whose.

    `number` counts the judgings of the submission, this one included. `accepted_ms` is from the
    request to its commit, `queued_ms` from there to this claim.
    """

    judging: int
    submission: str
    number: int
    lease: int
    worker: str
    kind: Kind
    problem: str
    version: str
    seed: int
    files: dict[str, bytes] = field(repr=False)
    accepted_ms: float
    queued_ms: float

    @property
    def exhausted(self) -> bool:
        """True when it was tried often enough: the verdict is JE, without another try."""
        return self.lease > MAX_ATTEMPTS


@dataclass(frozen=True)
class Facts:
    """What a worker found out about a problem version; `broken` says why it cannot be judged."""

    checks: Sequence[CheckCard] = ()
    charts: Sequence[Chart] = ()
    broken: str = ""


@dataclass(frozen=True)
class Standing:
    """How far a student has come with an exercise.

    `accepted` when a solution was accepted at all tiers, `failed_tier` where the newest ended;
    `tests` is how far tests of their own have come.
    """

    accepted: bool
    tests: TestsState
    failed_tier: str | None
    submissions: int
    last_at: datetime


@dataclass(frozen=True)
class Tried:
    """How many students tried an exercise; how many have a solution, and how many tests as well."""

    tried: int
    accepted: int
    with_tests: int


@dataclass(frozen=True)
class WorkerRow:
    """A worker and how it is; `why` says what it waits for."""

    id: str
    host: str
    pid: int
    sandbox: str
    slots: int
    state: WorkerState
    why: str = ""
    boxes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class QueueStats:
    """What is not finished: waiting by kind, being judged, and how long the oldest has waited."""

    waiting: Mapping[str, int]
    running: int
    oldest_s: float


@dataclass(frozen=True)
class Tally:
    """Verdicts given so far, of one kind, that took up to `bucket_ms` from POST to verdict."""

    kind: str
    verdict: str
    bucket_ms: float
    count: int
    total_ms: float
