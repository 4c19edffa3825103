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
from typing import Self

from judge.events import EVENT, Event, Restarted
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
from judge.results import Environment, Kind, Result
from judge.sources import source_size
from judge.verdicts import Verdict
from sandbox.boxes import (
    SHARED_FOLDER,
    Box,
    BoxSpec,
    Launcher,
    Role,
    SandboxError,
    SharedDir,
)
from sandbox.protocol import BoxReady, ChannelError

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
MAX_FILES = 64
RUNNER_CPUS = 1.5  # the student's thread, with room for init and the zygote beside it

OnEvent = Callable[[Event], None]


class JudgeFault(Exception):
    """We cannot judge: a box that does not start, a defence that does not hold."""


class BrokenChecks(JudgeFault):
    """The checks of a problem cannot be collected; the message has the author's file and line."""


class _Lost(Exception):
    """This attempt ended without a verdict; another may succeed."""


class _RunnerLost(_Lost):
    """... because the runner box is gone or does not answer; another has to be started."""


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
                    case JobLost(reason=reason, by_runner=by_runner):
                        raise _RunnerLost(reason) if by_runner else _Lost(reason)
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
            starting = judge._launch_grader()
            try:
                for slot in judge._slots:
                    slot.prepare()
            except BaseException:
                starting.kill()
                raise
            judge._grader = _wait_for_grader(starting)
            for slot in judge._slots:
                slot.box()
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
        """What is known of the problem's checks before they run. Raises `JudgeFault`."""
        try:
            return self._running_grader().open(problem)
        except _Lost as lost:
            raise JudgeFault(f"the grader cannot be used: {lost}") from None

    def judge(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
    ) -> Result:
        """Judge one submission; `files` maps names to sources. A fault of ours is a JE."""
        started = time.monotonic()
        slot = self._free.get()
        try:
            recording = Recording(
                problem=problem,
                kind=kind,
                seed=secrets.randbits(SEED_BITS) if seed is None else seed,
                environment=slot.environment,
            )
            self._judge_in(slot, recording, dict(files), _both(recording, on_event))
            return recording.result(judged_ms=(time.monotonic() - started) * 1000)
        finally:
            slot.retire_used_box()
            self._free.put(slot)

    def _judge_in(
        self, slot: _Slot, recording: Recording, files: dict[str, bytes], listen: OnEvent
    ) -> None:
        for _ in range(ATTEMPTS):
            try:
                self._attempt(slot, recording, files, listen)
            except BrokenChecks as broken:
                refusal = f"This problem is broken, not your code. {broken}"
                break
            except JudgeFault as fault:  # a box that does not start now will not a moment later
                refusal = f"This was our fault, not yours. {fault}"
                slot.discard()
                break
            except (_Lost, SandboxError) as lost:
                refusal = (
                    f"This was our fault, not yours: judging failed {ATTEMPTS} times ({lost})."
                )
                listen(Restarted())
                if isinstance(lost, _RunnerLost | SandboxError):
                    slot.discard()
            else:
                return
        for event in refused(recording.problem, recording.checks, refusal, Verdict.JE):
            listen(event)

    def _attempt(
        self, slot: _Slot, recording: Recording, files: dict[str, bytes], listen: OnEvent
    ) -> None:
        problem = recording.problem
        grader = self._running_grader()
        began = time.monotonic()
        recording.checks = grader.open(problem)
        if (reason := too_large(problem, files)) is not None:
            for event in refused(problem, recording.checks, reason, Verdict.CE):
                listen(event)
            return
        opened = time.monotonic()
        box = slot.box(ZYGOTE_BYTES + problem.limits.memory_bytes)
        recording.environment = slot.environment
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
            runner=f"{SHARED_FOLDER}/{box.id}.sock",
            tiers=len(problem.tiers),
            sent_s=time.monotonic(),
            visible_only=recording.kind == "run",
        )
        patience_s = 90 + 4 * problem.limits.wall_s * len(problem.tiers)
        for event in grader.judge(job, patience_s):
            listen(event)

    # --- the grader --------------------------------------------------------------------------

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
    """One runner box at a time. A box that is gone is replaced when the next one is needed.

    Where submissions cannot be kept apart inside a box, each gets a box of its own: the slot
    starts the next one while the current one works.
    """

    def __init__(self, launcher: Launcher, shared: SharedDir) -> None:
        self._launcher = launcher
        self._shared = shared
        self._box: Box | None = None
        self._next: Box | None = None
        self._memory_bytes = 0
        self.environment = Environment(sandbox=launcher.name, image="", torch="", numpy="")

    def prepare(self) -> None:
        """Begin to start a box, if none is on its way."""
        if self._next is None:
            self._next = self._launch()

    def box(self, memory_bytes: int = 0) -> Box:
        """A warm box whose defences hold, with this memory limit in force unless it is 0.

        Raises `JudgeFault` and `SandboxError`.
        """
        if self._box is not None and not self._box.alive():
            self.discard()
        if self._box is None:
            self.prepare()
            self._box, self._next = self._next, None
        box = self._warm(self._box)
        if memory_bytes not in (0, self._memory_bytes):
            box.set_memory_limit(memory_bytes)
            self._memory_bytes = memory_bytes
        return box

    def retire_used_box(self) -> None:
        """End a box that may serve one submission only."""
        if self._box is not None and _serves_once(self._box):
            self.discard()

    def discard(self) -> None:
        """End the box; the next one is started when it is needed."""
        if self._box is not None:
            self._box.kill()
        self._box = None
        self._memory_bytes = 0

    def kill(self) -> None:
        """End everything."""
        self.discard()
        if self._next is not None:
            self._next.kill()

    def _warm(self, box: Box | None) -> Box:
        if box is None:
            raise JudgeFault("no runner box could be started")
        if box.ready is not None:
            return box
        ready = _wait_until_fit(box)
        self.environment = Environment(
            sandbox=box.environment.sandbox,
            image=box.environment.image,
            torch=ready.torch,
            numpy=ready.numpy,
        )
        if _serves_once(box):
            self.prepare()
        return box

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


def _serves_once(box: Box) -> bool:
    return box.ready is not None and not box.ready.nested


def _wait_until_fit(box: Box) -> BoxReady:
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
    return ready


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
            GraderTier(tier.id, tier.checks, tier.requires, tier.visible) for tier in problem.tiers
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
    if len(files) > MAX_FILES:
        return f"There are more than {MAX_FILES} files, so they were not read. Join some of them."
    limit = problem.limits.source_bytes
    if source_size(files) <= limit:
        return None
    return f"The source is longer than {limit:,} bytes, so it was not read. Shorten it."


def _both(recording: Recording, on_event: OnEvent | None) -> OnEvent:
    def listen(event: Event) -> None:
        recording.add(event)
        if on_event is not None:
            on_event(event)

    return listen
