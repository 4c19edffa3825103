"""Messages between the grader box and the process that launched it.

The larger ones travel msgpack-encoded in the payload of their frame (`encode`), since a header is
bounded at 1 MiB; both ends are trusted.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from judge.results import ChartSource, Limits
from sandbox.protocol import Setting

REFERENCE = "reference.py"
REHEARSAL_FACTOR = 2.0  # of its budget: then what no alarm interrupts (an endless call) is killed


class GraderTier(Struct, frozen=True):
    """One tier as the grader needs it. `checks_file` is relative to the problem folder.

    `requires` are ids of tiers that must be accepted before this one runs. `visible` lists the
    checks that a `run` executes: all of them (True), none (False), or these by function name.
    An `advisory` tier counts neither for the verdict nor for the score.
    """

    id: str
    checks_file: str
    requires: tuple[str, ...]
    visible: bool | tuple[str, ...]
    advisory: bool = False


class Pitfall(Struct, frozen=True):
    """A known mistake: whole sources of a wrong solution, and the hint that names the mistake."""

    id: str
    hint: str
    source: bytes


class GradedMutant(Struct, frozen=True):
    """A wrong solution that students' own tests are to notice: whole sources, and what it does."""

    id: str
    title: str
    symptom: str
    source: bytes


class OwnTestsPack(Struct, frozen=True):
    """How students' own tests are graded.

    They may import `imports`, must pass on the reference and on every one of `alternatives`, and
    must notice the share `threshold` of `mutants`, those of `must_kill` among them.
    """

    imports: tuple[str, ...]
    threshold: float
    must_kill: tuple[str, ...]
    alternatives: tuple[bytes, ...]
    mutants: tuple[GradedMutant, ...]


class ProblemPack(Struct, frozen=True):
    """A problem version, complete: what the grader opens a paused session for.

    `check_patience_s` is what one check may use for itself, without waiting for the submission.
    """

    slug: str
    version: str
    setting: Setting
    reference: bytes
    tiers: tuple[GraderTier, ...]
    pitfalls: tuple[Pitfall, ...]
    files: dict[str, bytes]
    check_patience_s: float
    own_tests: OwnTestsPack | None = None


class JobLimits(Struct, frozen=True):
    """The limits that the grader enforces or names, in seconds and bytes."""

    wall_s: float
    cpu_s: float
    output_bytes: int
    memory_bytes: int

    @classmethod
    def of(cls, limits: Limits) -> JobLimits:
        """The grader's share of a problem's limits."""
        return cls(limits.wall_s, limits.cpu_s, limits.output_bytes, limits.memory_bytes)


class Stand(StrEnum):
    """What stands in for the floating-point arrays that code returns (`judge.grader.nulls`)."""

    ZEROS = "zeros"
    ONES = "ones"
    CONSTANTS = "constants"
    NAN = "nan"
    INFINITE = "infinite"
    EMPTY = "empty"
    BROADCASTABLE = "broadcastable"
    RANDOM = "random"
    PASSED_THROUGH = "passed-through"
    NONE = "none"
    EXTRA_AXIS = "extra-axis"  # the right numbers, in a shape that broadcasts against theirs
    SLIGHTLY_OFF = "slightly-off"  # the right numbers, but for a thousandth


class Rehearsal(Struct, frozen=True):
    """Code of the problem's own, to be run beside its checks: in their process, without a runner.

    Every check of `tiers` runs (of all, where none are named), whether or not those before passed,
    for `patience_s` at most, all of them for `budget_s`; with `first_failure_only` no more of them
    than it takes to know that one fails. With `stand` the floating-point arrays that `source`
    returns are replaced. `order` is the seed that the checks are shuffled by; None leaves them in
    the order they are written. The global generators, which no check may draw from, are others
    with every seed and `noise`.
    """

    source: bytes
    patience_s: float
    budget_s: float
    stand: Stand | None = None
    tiers: tuple[str, ...] = ()
    first_failure_only: bool = False
    order: int | None = None
    threads: int = 1
    noise: int = 0


class Job(Struct, frozen=True):
    """One submission to judge, against an opened problem version, in the runner at `runner`.

    `sent_s` is `time.monotonic` of the sender; the clock is the machine's, boxes included. With a
    `scratch` no check runs, but this source after the submission; with `tests` these run, and
    there is no other file. `dependencies` take the place of
    modules of the problem's library, by path: what the student wrote for exercises that this one
    builds on. Charts are drawn in the name of `charts_of`. It may take as long as `tiers` times
    what its limits allow. A `rehearsal` takes the place of everything that would need a runner, and
    is answered by a single event, `Rehearsed`.
    """

    id: str
    version: str
    files: dict[str, bytes]
    seed: int
    limits: JobLimits
    runner: str
    tiers: int
    sent_s: float
    visible_only: bool = False
    scratch: bytes | None = None
    tests: dict[str, bytes] = {}
    dependencies: dict[str, bytes] = {}
    charts_of: ChartSource = "submission"
    rehearsal: Rehearsal | None = None


class ComparedMargin(Struct, frozen=True):
    """A comparison of a check: its largest error as a share of the limit, up to 1 where it held."""

    what: str
    dtype: str
    share: float


class RehearsedCheck(Struct, frozen=True):
    """What one check came to: `error` is None, or what it said.

    `late` when it did not end in time.
    """

    tier: str
    id: str
    error: str | None
    wall_ms: float
    late: bool = False
    margins: list[ComparedMargin] = []


class Rehearsed(Struct, frozen=True):
    """What a `Rehearsal` came to.

    No check was run when the code was `refused`, and why; it `died` when it took its process along.
    It was `late` when importing it, or a check, did not end in time.
    """

    checks: list[RehearsedCheck]
    refused: str = ""
    died: bool = False
    late: bool = False

    @property
    def failures(self) -> dict[str, str]:
        """What the failing checks said, by id."""
        return {check.id: check.error for check in self.checks if check.error is not None}


class OpenProblem(Struct, frozen=True, tag="open"):
    """Collect the checks of the `ProblemPack` in the payload."""

    version: str


class CloseProblem(Struct, frozen=True, tag="close"):
    """Forget a problem version; jobs of it that are under way go on."""

    version: str


class StartJob(Struct, frozen=True, tag="job"):
    """Judge the `Job` in the payload."""

    id: str


class Ping(Struct, frozen=True, tag="ping"):
    """Answer with a `Pong` of the same id."""

    id: str


ToGrader = OpenProblem | CloseProblem | StartJob | Ping


class GraderReady(Struct, frozen=True, tag="ready"):
    """The grader is warm."""

    box: str
    torch: str
    numpy: str
    python: str


class CheckCard(Struct, frozen=True):
    """What is known of a check before it runs."""

    tier: str
    id: str
    title: str
    kind: str
    why: str


class ProblemOpened(Struct, frozen=True, tag="opened"):
    """The checks of a problem version are collected."""

    version: str
    checks: list[CheckCard]


class ProblemBroken(Struct, frozen=True, tag="broken"):
    """The checks cannot be collected: the author's file, line and what went wrong."""

    version: str
    file: str
    line: int
    message: str


class JobEvent(Struct, frozen=True, tag="event"):
    """The next `judge.events` events of a job, as a JSON list in the payload; `last` ends it."""

    id: str
    last: bool


class JobLost(Struct, frozen=True, tag="lost"):
    """The grading process of a job ended without a verdict: our fault, try again.

    `by_runner` when that was because its runner box is gone or does not answer.
    """

    id: str
    reason: str
    by_runner: bool = False


class Pong(Struct, frozen=True, tag="pong"):
    """The grader is there."""

    id: str


FromGrader = GraderReady | ProblemOpened | ProblemBroken | JobEvent | JobLost | Pong


class ChildStarted(Struct, frozen=True, tag="child"):
    """First message of a grading process: its process id, inside the box."""

    pid: int


class ChildEvent(Struct, frozen=True, tag="child-event"):
    """Events of the job, as a JSON list in the payload; `last` is true if it ends in `Finished`.

    The payload of a rehearsal is a `Rehearsed`, msgpack-encoded.
    """

    last: bool


class ChildLostRunner(Struct, frozen=True, tag="child-lost-runner"):
    """The last message of a grading process whose runner box failed it."""

    reason: str


FromChild = ChildStarted | ChildEvent | ChildLostRunner


class SessionOpened(Struct, frozen=True, tag="session-opened"):
    """The pytest session is collected and paused."""

    checks: list[CheckCard]


class SessionBroken(Struct, frozen=True, tag="session-broken"):
    """Collecting failed."""

    file: str
    line: int
    message: str


FromSession = SessionOpened | SessionBroken


def encode(pack: ProblemPack | Job | Rehearsed) -> bytes:
    """A payload."""
    return msgspec.msgpack.encode(pack)
