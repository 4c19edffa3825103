"""Judging on this machine: the boxes, the submissions in them, and the results.

Theory of operation
-------------------
A `Judge` owns one grader box and a fixed number of runner boxes (slots). `judge` takes a free
slot, sends the submission to the grader and turns the events that come back into a `Result`. It
may be called from as many threads as there are slots.

Whatever dies on our side (a grading process, a box, the engine) is replaced and the submission is
judged again, three times at most; after that its verdict is JE. A student is never charged for it.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self, TypeVar

from judge.events import EVENT, Event
from judge.grader.messages import (
    CheckCard,
    FromGrader,
    GraderReady,
    GraderTier,
    Job,
    JobEvent,
    JobLimits,
    JobLost,
    OpenProblem,
    Pitfall,
    ProblemBroken,
    ProblemOpened,
    ProblemPack,
    StartJob,
    encode,
)
from judge.problem import Problem
from judge.recording import Recording, refused
from judge.results import Environment, Result
from judge.verdicts import Verdict
from sandbox.boxes import Box, BoxSpec, EngineGone, Launcher, Role, SandboxError, SharedDir
from sandbox.protocol import ChannelError

START_PATIENCE_S = 120.0
OPEN_PATIENCE_S = 60.0
ATTEMPTS = 3
CHECK_PATIENCE_FACTOR = 2.0  # of the wall limit: what one check may use for itself
ZYGOTE_BYTES = 320 << 20  # what a warm runner needs before the first submission's first byte
GRADER_BYTES = 2 << 30
RUNNER_PIDS = 256
GRADER_PIDS = 512
RUNNER_TMP_BYTES = 64 << 20
GRADER_TMP_BYTES = 64 << 20
SEED_BITS = 48
RUNNER_CPUS = 1.5  # the student's thread, and the zygote preparing the next child beside it
SOCKETS_FOLDER = "/run/judge"

Kind = Literal["submit", "run", "tests"]
OnEvent = Callable[[Event], None]
R = TypeVar("R")


class JudgeFault(Exception):
    """We cannot judge: a box that does not start, a defence that does not hold."""


class BrokenChecks(JudgeFault):
    """The checks of a problem cannot be collected; the message has the author's file and line."""


class _Lost(Exception):
    """This attempt ended without a verdict; another may succeed."""


# --- the grader box -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Message:
    """A message of the grader with its payload; None when the grader is gone."""

    message: FromGrader | None
    payload: bytes = b""


class _Grader:
    """The grader box and the thread that sorts what it says by job and by problem version."""

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
        """Make sure the problem version is open; its checks. Raises `BrokenChecks`, `_Lost`."""
        with self._opening:
            known = self._catalogues.get(problem.version)
            if known is not None:
                return known
            with self._inbox(problem.version) as inbox:
                self._send(OpenProblem(problem.version), encode(pack_of(problem)))
                answer = _next(inbox, OPEN_PATIENCE_S).message
            if isinstance(answer, ProblemBroken):
                raise BrokenChecks(
                    f"problems/{problem.slug}/{answer.file}:{answer.line}: {answer.message}"
                )
            if not isinstance(answer, ProblemOpened):
                raise _Lost("the grader did not open the problem")
            self._catalogues[problem.version] = answer.checks
            return answer.checks

    def judge(self, job: Job, patience_s: float) -> Iterator[Event]:
        """The events of one job, ending in `Finished`. Raises `_Lost`."""
        with self._inbox(job.id) as inbox:
            self._send(StartJob(job.id), encode(job))
            while True:
                received = _next(inbox, patience_s)
                match received.message:
                    case JobEvent(last=last):
                        yield EVENT.validate_json(received.payload)
                        if last:
                            return
                    case JobLost(reason=reason):
                        raise _Lost(reason)
                    case _:
                        raise _Lost("the grader answered out of turn")

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
                raise _Lost("the grader box is gone")
            yield inbox
        finally:
            del self._inboxes[key]

    def _send(self, message: OpenProblem | StartJob, payload: bytes) -> None:
        try:
            with self._sending:
                self._box.send(message, [payload], time.monotonic() + START_PATIENCE_S)
        except ChannelError as error:
            raise _Lost(f"the grader box is gone: {error}") from None

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
        case JobEvent(id=key) | JobLost(id=key):
            return key
        case _:
            return ""


def _next(inbox: queue.SimpleQueue[_Message], patience_s: float) -> _Message:
    try:
        received = inbox.get(timeout=patience_s)
    except queue.Empty:
        raise _Lost(f"the grader said nothing for {patience_s:g} s") from None
    if received.message is None:
        raise _Lost("the grader box is gone")
    return received


# --- the judge ------------------------------------------------------------------------------------


class Judge:
    """Boxes, and the submissions judged in them. Use as a context manager."""

    def __init__(self, launcher: Launcher, slots: int) -> None:
        self._launcher = launcher
        self._shared: SharedDir = launcher.shared_dir()
        self._free: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        self._slots = [_Slot(launcher, self._shared) for _ in range(slots)]
        self._grader: _Grader | None = None
        self._starting = threading.Lock()

    @classmethod
    def start(cls, launcher: Launcher, slots: int = 1) -> Judge:
        """Start all boxes and wait until they are warm. Raises `JudgeFault`, `SandboxError`."""
        judge = cls(launcher, slots)
        try:
            grader = judge._launch_grader()
            for slot in judge._slots:
                slot.prepare()
            judge._grader = _wait_for_grader(grader)
            for slot in judge._slots:
                slot.wait_ready()
                judge._free.put(slot)
        except BaseException:
            judge.close()
            raise
        return judge

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all boxes and give everything back."""
        if self._grader is not None:
            self._grader.kill()
        for slot in self._slots:
            slot.kill()
        self._shared.remove()

    def checks(self, problem: Problem) -> list[CheckCard]:
        """What is known of the problem's checks before they run. Raises `BrokenChecks`."""
        return self._again(lambda: self._running_grader().open(problem))

    def judge(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
    ) -> Result:
        """Judge one submission; `files` maps names to sources. Raises `JudgeFault`."""
        started = time.monotonic()
        slot = self._free.get()
        try:
            recording = self._new_recording(problem, kind, seed, slot)
            listen = _both(recording, on_event)
            if (reason := too_large(problem, files)) is not None:
                for event in refused(problem, self.checks(problem), reason, Verdict.CE):
                    listen(event)
            else:
                self._judge_in(slot, recording, dict(files), listen)
            return recording.result(judged_ms=(time.monotonic() - started) * 1000)
        finally:
            slot.renew_if_used_up()
            self._free.put(slot)

    def _judge_in(
        self, slot: _Slot, recording: Recording, files: dict[str, bytes], listen: OnEvent
    ) -> None:
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                self._attempt(slot, recording, files, listen)
            except BrokenChecks as broken:
                reason = f"This problem is broken, not your code. {broken}"
                break
            except (_Lost, EngineGone) as lost:
                reason = f"This was our fault, not yours: judging failed {ATTEMPTS} times ({lost})."
                recording.clear()
                slot.replace()
            else:
                return
        for event in refused(recording.problem, recording.checks, reason, Verdict.JE):
            listen(event)

    def _attempt(
        self, slot: _Slot, recording: Recording, files: dict[str, bytes], listen: OnEvent
    ) -> None:
        problem = recording.problem
        grader = self._running_grader()
        began = time.monotonic()
        recording.checks = grader.open(problem)
        opened = time.monotonic()
        box = slot.box_with_memory(ZYGOTE_BYTES + problem.limits.memory_bytes)
        recording.spans = {
            "open": round((opened - began) * 1000, 3),
            "box": round((time.monotonic() - opened) * 1000, 3),
        }
        job = Job(
            id=f"{recording.id}-{secrets.token_hex(4)}",
            version=problem.version,
            files=files,
            seed=recording.seed,
            limits=JobLimits.of(problem.limits),
            runner=f"{SOCKETS_FOLDER}/{box.id}.sock",
            tiers=len(problem.tiers),
            sent_s=time.monotonic(),
            visible_only=recording.kind == "run",
        )
        patience_s = 90 + 4 * problem.limits.wall_s * len(problem.tiers)
        for event in grader.judge(job, patience_s):
            listen(event)

    def _new_recording(
        self, problem: Problem, kind: Kind, seed: int | None, slot: _Slot
    ) -> Recording:
        return Recording(
            problem=problem,
            kind=kind,
            seed=secrets.randbits(SEED_BITS) if seed is None else seed,
            environment=slot.environment(),
        )

    # --- the grader --------------------------------------------------------------------------

    def _again(self, action: Callable[[], R]) -> R:
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                return action()
            except _Lost as lost:
                reason = str(lost)
        raise JudgeFault(f"the grader cannot be used: {reason}")

    def _running_grader(self) -> _Grader:
        with self._starting:
            if self._grader is None or self._grader.gone:
                if self._grader is not None:
                    self._grader.kill()
                self._grader = _wait_for_grader(self._launch_grader())
            return self._grader

    def _launch_grader(self) -> Box:
        spec = BoxSpec(
            role=Role.GRADER,
            entry="judge.grader.main",
            packages=("sandbox", "judge"),
            memory_bytes=GRADER_BYTES,
            pids=GRADER_PIDS,
            cpus=float(len(self._slots)) + 1.0,
            tmp_bytes=GRADER_TMP_BYTES,
        )
        return self._launcher.launch(spec, self._shared)


# --- slots ------------------------------------------------------------------------------------


class _Slot:
    """One runner box at a time, always fit for use when the slot is free."""

    def __init__(self, launcher: Launcher, shared: SharedDir) -> None:
        self._launcher = launcher
        self._shared = shared
        self._box: Box | None = None
        self._spare: Box | None = None
        self._memory_bytes = 0

    def prepare(self) -> None:
        """Begin to start the box."""
        self._box = self._launch()

    def wait_ready(self) -> None:
        """Wait until the box is warm and its defences were tried. Raises `JudgeFault`."""
        _wait_until_fit(self._running())
        if self._serves_once() and self._spare is None:
            self._spare = self._launch()

    def environment(self) -> Environment:
        """Where submissions of this slot run."""
        box = self._running()
        ready = box.ready
        return Environment(
            sandbox=box.environment.sandbox,
            image=box.environment.image,
            torch=ready.torch if ready else "",
            numpy=ready.numpy if ready else "",
        )

    def box_with_memory(self, memory_bytes: int) -> Box:
        """The box, with this memory limit in force."""
        box = self._running()
        if not box.alive():
            self.replace()
            box = self._running()
        if self._memory_bytes != memory_bytes:
            box.set_memory_limit(memory_bytes)
            self._memory_bytes = memory_bytes
        return box

    def renew_if_used_up(self) -> None:
        """A box in single mode has served its one submission: go on with the spare."""
        if self._serves_once():
            self.replace()

    def replace(self) -> None:
        """End the box and go on with another."""
        self._running().kill()
        self._box, self._spare = self._spare or self._launch(), None
        self._memory_bytes = 0
        self.wait_ready()

    def kill(self) -> None:
        """End what runs."""
        for box in (self._box, self._spare):
            if box is not None:
                box.kill()

    def _serves_once(self) -> bool:
        ready = self._running().ready
        return ready is not None and not ready.nested

    def _running(self) -> Box:
        if self._box is None:
            raise JudgeFault("the runner box was not started")
        return self._box

    def _launch(self) -> Box:
        return self._launcher.launch(runner_spec(), self._shared)


def runner_spec() -> BoxSpec:
    """What a runner box is started with; its memory limit is raised per problem."""
    return BoxSpec(
        role=Role.RUNNER,
        entry="sandbox.runner.zygote",
        packages=("sandbox",),
        memory_bytes=ZYGOTE_BYTES,
        pids=RUNNER_PIDS,
        cpus=RUNNER_CPUS,
        tmp_bytes=RUNNER_TMP_BYTES,
    )


def _wait_until_fit(box: Box) -> None:
    """Wait for the box's own report; a box that fails a probe is not used."""
    try:
        ready = box.wait_ready(time.monotonic() + START_PATIENCE_S)
    except ChannelError as error:
        said = box.diagnostics()
        raise JudgeFault(f"the runner box did not start: {error}\n{said}".rstrip()) from None
    failed = [f"{probe.name} ({probe.detail})" for probe in ready.probes if not probe.held]
    if failed:
        raise JudgeFault(
            f"the sandbox does not hold: {', '.join(failed)}. Run `judge doctor` to see why."
        )


def _wait_for_grader(box: Box) -> _Grader:
    try:
        box.receive(GraderReady, time.monotonic() + START_PATIENCE_S)
    except ChannelError as error:
        said = box.diagnostics()
        box.kill()
        raise JudgeFault(f"the grader box did not start: {error}\n{said}".rstrip()) from None
    return _Grader(box)


# --- what a problem and a submission are to the grader ------------------------------------------


def pack_of(problem: Problem) -> ProblemPack:
    """Everything the grader needs of a problem."""
    return ProblemPack(
        slug=problem.slug,
        version=problem.version,
        main=problem.main_file,
        reference=problem.reference,
        provided=problem.provided,
        tiers=tuple(
            GraderTier(tier.id, tier.title, tier.checks, tier.requires, tier.visible)
            for tier in problem.tiers
        ),
        pitfalls=tuple(
            Pitfall(mutant.id, mutant.hint, problem.mutate(mutant))
            for mutant in problem.mutants
            if mutant.pitfall
        ),
        files=dict(problem.contents),
        check_patience_s=CHECK_PATIENCE_FACTOR * problem.limits.wall_s,
    )


def too_large(problem: Problem, files: Mapping[str, bytes]) -> str | None:
    """Why the sources are refused unparsed, in words; None when they are not."""
    size = sum(len(source) for source in files.values())
    limit = problem.limits.source_bytes
    if size <= limit:
        return None
    return f"The source is {size:,} bytes long; at most {limit:,} are accepted. It was not parsed."


def _both(recording: Recording, on_event: OnEvent | None) -> OnEvent:
    def listen(event: Event) -> None:
        recording.add(event)
        if on_event is not None:
            on_event(event)

    return listen
