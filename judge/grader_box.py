"""The grader box: one conversation with it, and the jobs and problem versions it is about.

One thread listens and sorts what the box says by job, problem version and question, so that any
number of threads may open problems and have jobs judged at the same time.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from judge.events import EVENTS, Event
from judge.faults import BrokenChecks, JobEnded, Lost, NotStarted, RunnerLost
from judge.grader.messages import (
    CheckCard,
    CloseProblem,
    FromGrader,
    GradedMutant,
    GraderReady,
    GraderTier,
    Job,
    JobEvent,
    JobLost,
    OpenProblem,
    OwnTestsPack,
    Ping,
    Pitfall,
    Pong,
    ProblemBroken,
    ProblemOpened,
    ProblemPack,
    Rehearsed,
    StartJob,
    ToGrader,
    encode,
)
from judge.own_tests import public_names
from judge.problem import Problem
from judge.slots import START_PATIENCE_S
from sandbox.boxes import Box, BoxSpec, Role, SandboxError
from sandbox.protocol import ChannelError, ConnectionLost

OPEN_PATIENCE_S = 60.0
CHECK_PATIENCE_FACTOR = 2.0  # of the wall limit: what one check may use for itself
PING_PATIENCE_S = 5.0
GRADER_BYTES = 2 << 30
OPEN_VERSIONS = 24  # problem versions: some 35 MB each, and what jobs need has to fit in, too
GRADER_PIDS = 512
GRADER_TMP_BYTES = 64 << 20


def grader_spec(slots: int) -> BoxSpec:
    """What a grader box is started with that judges in so many slots at a time."""
    return BoxSpec(
        role=Role.GRADER,
        entry="judge.grader.main",
        packages=("sandbox", "judge"),
        memory_bytes=GRADER_BYTES,
        pids=GRADER_PIDS,
        cpus=float(slots) + 1.0,
        tmp_bytes=GRADER_TMP_BYTES,
    )


def wait_for_grader(box: Box) -> GraderBox:
    """The conversation with a box that was just launched. Raises `JudgeFault`."""
    try:
        box.receive(GraderReady, time.monotonic() + START_PATIENCE_S)
    except ChannelError as error:
        said = box.diagnostics()
        box.kill()
        raise NotStarted(f"the grader box did not start: {error}\n{said}".rstrip()) from None
    return GraderBox(box)


@dataclass(frozen=True)
class _Message:
    """A message of the grader with its payload; None when the grader is gone."""

    message: FromGrader | None
    payload: bytes = b""


class GraderBox:
    """A warm grader box. `gone` once it is of no more use."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._sending = threading.Lock()
        self._inboxes: dict[str, queue.SimpleQueue[_Message]] = {}
        self._catalogues: dict[str, list[CheckCard]] = {}
        self._opening = threading.Lock()
        self.gone = False
        self._thread = threading.Thread(target=self._listen, daemon=True, name="grader")
        self._thread.start()

    def open(self, problem: Problem) -> list[CheckCard]:
        """Make sure the problem version is open; its checks. Raises `BrokenChecks`, `Lost`."""
        with self._opening:
            known = self._catalogues.pop(problem.version, None)
            if known is not None:
                self._catalogues[problem.version] = known  # the last to be closed
                return known
            self._make_room()
            with self._inbox(problem.version) as inbox:
                self._send(OpenProblem(problem.version), encode(pack_of(problem)))
                answer = _next(inbox, OPEN_PATIENCE_S).message
            if isinstance(answer, ProblemBroken):
                raise BrokenChecks(problem.slug, answer.file, answer.line, answer.message)
            if not isinstance(answer, ProblemOpened):
                raise Lost("the grader did not open the problem")
            self._catalogues[problem.version] = answer.checks
            return answer.checks

    def _make_room(self) -> None:
        """Close the version that has not been used for longest. Raises `Lost`.

        Should a job of it be about to start, that is lost, and tried again.
        """
        while len(self._catalogues) >= OPEN_VERSIONS:
            oldest, *_ = self._catalogues
            self._catalogues.pop(oldest, None)
            self._send(CloseProblem(oldest))

    def judge(self, job: Job, patience_s: float) -> Iterator[Event]:
        """The events of one job, ending in `Finished`. Raises `Lost`."""
        with self._inbox(job.id) as inbox:
            self._send(StartJob(job.id), encode(job))
            while True:
                received = _next(inbox, patience_s)
                match received.message:
                    case JobEvent(last=last):
                        yield from EVENTS.validate_json(received.payload)
                        if last:
                            return
                    case JobLost(reason=reason, by_runner=by_runner):
                        raise RunnerLost(reason) if by_runner else Lost(reason)
                    case _:
                        raise Lost("the grader answered out of turn")

    def rehearse(self, job: Job, patience_s: float) -> Rehearsed:
        """What the rehearsal of `job` came to. Raises `Lost`."""
        with self._inbox(job.id) as inbox:
            self._send(StartJob(job.id), encode(job))
            received = _next(inbox, patience_s)
            match received.message:
                case JobEvent():
                    return msgspec.msgpack.decode(received.payload, type=Rehearsed)
                case JobLost(reason=reason):
                    raise JobEnded(reason)
                case _:
                    raise Lost("the grader answered out of turn")

    def answers(self) -> bool:
        """Whether it answers a question now. It always does at once, unless it was stopped."""
        key = f"ping-{secrets.token_hex(4)}"
        try:
            with self._inbox(key) as inbox:
                self._send(Ping(key), patience_s=PING_PATIENCE_S)
                _next(inbox, PING_PATIENCE_S)
        except Lost:
            return False
        return True

    @property
    def state(self) -> str:
        """One of "warm", "busy" and "lost"."""
        if self.gone:
            return "lost"
        return "busy" if self._inboxes else "warm"

    def kill(self) -> None:
        """End the box."""
        self._box.kill()
        self._thread.join(timeout=5)

    @contextmanager
    def _inbox(self, key: str) -> Iterator[queue.SimpleQueue[_Message]]:
        inbox: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._inboxes[key] = inbox
        try:
            if self.gone:
                raise Lost("the grader box is gone")
            yield inbox
        finally:
            del self._inboxes[key]

    def _send(
        self, message: ToGrader, payload: bytes = b"", patience_s: float = START_PATIENCE_S
    ) -> None:
        deadline = time.monotonic() + patience_s
        if not self._sending.acquire(timeout=patience_s):
            raise Lost("the grader box does not listen")
        try:
            self._box.send(message, [payload] if payload else [], deadline)
        except ChannelError as error:
            if isinstance(error, ConnectionLost):  # `_listen` finds out too, but maybe too late
                self.gone = True
            raise Lost(f"the grader box is gone: {error}") from None
        finally:
            self._sending.release()

    def _listen(self) -> None:
        try:
            while True:
                message, payload = self._box.receive(FromGrader)
                key = _key(message)
                if isinstance(message, ProblemBroken):
                    self._catalogues.pop(key, None)
                inbox = self._inboxes.get(key)
                if inbox is not None:
                    inbox.put(_Message(message, bytes(payload)))
        except (ChannelError, SandboxError):
            self.gone = True
            for inbox in list(self._inboxes.values()):
                inbox.put(_Message(None))


def _key(message: FromGrader) -> str:
    match message:
        case ProblemOpened(version=key) | ProblemBroken(version=key):
            return key
        case JobEvent(id=key) | JobLost(id=key) | Pong(id=key):
            return key
        case _:
            return ""


def _next(inbox: queue.SimpleQueue[_Message], patience_s: float) -> _Message:
    try:
        received = inbox.get(timeout=patience_s)
    except queue.Empty:
        raise Lost(f"the grader said nothing for {patience_s:g} s") from None
    if received.message is None:
        raise Lost("the grader box is gone")
    return received


def pack_of(problem: Problem) -> ProblemPack:
    """Everything the grader needs of a problem."""
    return ProblemPack(
        slug=problem.slug,
        version=problem.version,
        setting=problem.setting,
        reference=problem.reference,
        tiers=tuple(
            GraderTier(tier.id, tier.checks, tier.requires, tier.visible, tier.advisory)
            for tier in problem.tiers
        ),
        pitfalls=tuple(
            Pitfall(mutant.id, mutant.hint, problem.mutate(mutant))
            for mutant in problem.mutants
            if mutant.pitfall
        ),
        files=dict(problem.contents),
        check_patience_s=CHECK_PATIENCE_FACTOR * problem.limits.wall_s,
        own_tests=_own_tests(problem),
    )


def _own_tests(problem: Problem) -> OwnTestsPack | None:
    own = problem.manifest.tests
    if own is None:
        return None
    names = public_names([mutant.id for mutant in problem.graded_mutants])
    return OwnTestsPack(
        imports=own.imports,
        threshold=own.threshold,
        must_kill=tuple(names[mutant] for mutant in problem.must_kill),
        alternatives=tuple(kept.source for kept in problem.accepted),
        mutants=tuple(
            GradedMutant(names[mutant.id], mutant.title, mutant.symptom, problem.mutate(mutant))
            for mutant in problem.graded_mutants
        ),
    )
