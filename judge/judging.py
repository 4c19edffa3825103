"""Judging on this machine: the boxes, the submissions in them, and the results.

Theory of operation
-------------------
A `Judge` owns one grader box and a fixed number of runner boxes (slots). `attempt` takes a free
slot, sends the submission to the grader and turns the events that come back into a `Result`. It
may be called from as many threads as there are slots.

Whatever dies on our side (a grading process, a box, the engine) is replaced and the submission is
tried again, three times at most. After that it is a `JudgeFault`, which `judge` turns into the
verdict JE. A student is never charged for it.

A box that is lost while a submission needs it is replaced at once. With `spare`, a thread, the
keeper, also looks after the idle ones, keeps one warm box in reserve, and asks each now and then
whether it is there; without it, the next submission finds out.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from judge.events import Event, Finished, Restarted
from judge.faults import BrokenChecks, JobEnded, JudgeFault, Lost, NotStarted, RunnerLost, Untried
from judge.grader.messages import (
    REHEARSAL_FACTOR,
    CheckCard,
    Job,
    JobLimits,
    Rehearsal,
    Rehearsed,
)
from judge.grader.trials import REFERENCE_RUNS
from judge.grader_box import GraderBox, grader_spec, wait_for_grader
from judge.own_tests import MAX_TEST_FILES, is_tests_file
from judge.problem import Problem
from judge.recording import Recording
from judge.results import SEED_BITS, ChartSource, Environment, Kind, Result
from judge.scratch import SCRATCH_FILE, has_scratch
from judge.slots import ZYGOTE_BYTES, Pool, Reserve, Slot, runner_spec
from judge.sources import source_size
from judge.verdicts import Verdict
from sandbox.boxes import SHARED_FOLDER, Box, EngineGone, Launcher, SandboxError, SharedDir

__all__ = ["BrokenChecks", "Judge", "JudgeFault", "OnEvent", "Untried", "too_large"]

TRIES = 3
TRYING_S = 30.0  # no further try begins later than this after the first
REHEARSAL_GRACE_S = 60.0  # after a rehearsal should have been ended, before nothing is expected
BOX_STATES = ("warm", "busy", "starting", "lost")
KEEPER_S = 0.5  # between two looks of the keeper
KEEPER_LONGEST_S = 5.0  # ... while boxes cannot be started
PING_EVERY_S = 2.0
KEEPER_END_S = 40.0
MAX_FILES = 64

OnEvent = Callable[[Event], None]


@dataclass
class _Judging:
    """One submission, from the call to its result."""

    recording: Recording
    files: dict[str, bytes]
    on_event: OnEvent | None
    charts_of: ChartSource = "submission"
    started: float = field(default_factory=time.monotonic)
    sent: bool = False  # to the grader, and so maybe to the runner

    def listen(self, event: Event) -> None:
        self.recording.add(event)
        if self.on_event is not None:
            self.on_event(event)

    def refuse(self, message: str, verdict: Verdict) -> None:
        """Finish without running any check."""
        for event in self.recording.refused(message, verdict):
            self.listen(event)

    def result(self) -> Result:
        return self.recording.result(judged_ms=(time.monotonic() - self.started) * 1000)


class Judge:
    """Boxes, and the submissions judged in them. Use as a context manager."""

    def __init__(self, launcher: Launcher, slots: int, *, spare: bool = False) -> None:
        self._launcher = launcher
        self._shared: SharedDir = launcher.shared_dir()
        self._closed = threading.Event()
        self._look = threading.Event()  # the keeper has something to do
        self._reserve = Reserve(self._launch_runner, self._look.set) if spare else None
        self._slots = [
            Slot(self._launch_runner, self._reserve, launcher.name) for _ in range(slots)
        ]
        self._pool = Pool(self._slots)
        self._grader: GraderBox | None = None
        self._starting = threading.Lock()
        self._mending = threading.Lock()
        self._keeper = threading.Thread(target=self._keep, daemon=True, name="keeper")

    @classmethod
    def start(cls, launcher: Launcher, slots: int = 1, *, spare: bool = False) -> Judge:
        """Start all boxes and wait until they are warm. Raises `JudgeFault`, `SandboxError`.

        With `spare`, idle boxes are looked after, and one more is kept in reserve. Then only what
        the first submission needs is waited for: the keeper starts the others.
        """
        judge = cls(launcher, slots, spare=spare)
        try:
            needed = judge._slots[:1] if spare else judge._slots
            starting = judge._launch_grader()
            try:
                for slot in needed:
                    slot.prepare()
            except BaseException:
                starting.kill()
                raise
            judge._grader = wait_for_grader(starting)
            for slot in needed:
                slot.box()
        except BaseException:
            judge.close()
            raise
        if spare:
            judge._keeper.start()
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
        """End all boxes and give everything back. What is being judged ends as a `JudgeFault`."""
        self._closed.set()
        self._look.set()
        self._pool.close()
        self._kill_all()
        if self._keeper.is_alive():
            self._keeper.join(KEEPER_END_S)
            self._kill_all()
        self._shared.remove()

    def boxes(self) -> dict[str, int]:
        """How many boxes are in each state of `BOX_STATES`: grader, slots and reserve."""
        grader = self._grader
        states = Counter(self._pool.states())
        states["lost" if grader is None else grader.state] += 1
        if self._reserve is not None:
            states[self._reserve.state] += 1
        return {state: states[state] for state in BOX_STATES}

    @property
    def environment(self) -> Environment:
        """Where submissions run, as far as it is known."""
        return self._slots[0].environment

    def checks(self, problem: Problem) -> list[CheckCard]:
        """What is known of the problem's checks before they run. Raises `JudgeFault`."""
        try:
            return self._running_grader().open(problem)
        except Lost as lost:
            raise JudgeFault(f"the grader cannot be used: {lost}") from None

    def rehearse(self, problem: Problem, rehearsal: Rehearsal, seed: int) -> Rehearsed:
        """Run code of the problem's own beside its checks, in the grader box; no slot is taken.

        Code that takes its process along is `refused`, if it does so twice: processes also end for
        lack of memory, or because the one that holds the checks did. Raises `JudgeFault`.
        """
        patience_s = REHEARSAL_FACTOR * rehearsal.budget_s + REHEARSAL_GRACE_S
        for number in range(1, TRIES + 1):
            job = _rehearsal_job(problem, rehearsal, seed)
            try:
                grader = self._running_grader()
                grader.open(problem)
                return grader.rehearse(job, patience_s)
            except JobEnded as ended:
                if number > 1:
                    return Rehearsed([], f"its process ended: {ended}", died=True)
            except Lost as lost:
                if number == TRIES:
                    raise JudgeFault(f"a rehearsal failed {TRIES} times ({lost})") from None
        raise AssertionError("the loop returns or raises")

    # --- submissions -------------------------------------------------------------------------

    def judge(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        id: str | None = None,  # noqa: A002  # the name it has in a result
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
    ) -> Result:
        """Judge one submission; `files` maps names to sources. A fault of ours is a JE."""
        judging = self._begin(problem, files, id, seed, kind, on_event)
        try:
            self._run(judging)
        except JudgeFault as fault:
            judging.refuse(f"This was our fault, not yours. {fault}", Verdict.JE)
        return judging.result()

    def attempt(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        id: str | None = None,  # noqa: A002
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
        charts_of: ChartSource = "submission",
    ) -> Result:
        """As `judge`, but a fault of ours raises `JudgeFault`; no event of it is left unvoided.

        It is `Untried` when the submission had no part in it. A problem whose checks are broken
        still is a JE: another judge would find the same. `charts_of` is whose numbers charts show.
        """
        judging = self._begin(problem, files, id, seed, kind, on_event)
        judging.charts_of = charts_of
        self._run(judging)
        return judging.result()

    def _begin(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        submission_id: str | None,
        seed: int | None,
        kind: Kind,
        on_event: OnEvent | None,
    ) -> _Judging:
        recording = Recording(
            problem=problem,
            kind=kind,
            seed=secrets.randbits(SEED_BITS) if seed is None else seed,
            environment=Environment(sandbox=self._launcher.name, image="", torch="", numpy=""),
            id=submission_id or secrets.token_hex(8),
            scratch=has_scratch(files, kind, problem.file_names),
        )
        return _Judging(recording, dict(files), on_event)

    def _run(self, judging: _Judging) -> None:
        """Try until there is a verdict. Raises `JudgeFault`."""
        slot = self._pool.take()
        try:
            judging.recording.environment = slot.environment
            self._try_repeatedly(slot, judging)
        except BrokenChecks as broken:
            judging.refuse(f"This problem is broken, not your code. {broken}", Verdict.JE)
        except JudgeFault:
            slot.discard()
            raise
        finally:
            slot.retire_used_box()
            self._pool.give_back(slot)

    def _try_repeatedly(self, slot: Slot, judging: _Judging) -> None:
        for number in range(1, TRIES + 1):
            try:
                self._try(slot, judging)
            except (Lost, SandboxError, NotStarted) as lost:
                judging.listen(Restarted())
                if not isinstance(lost, Lost) or isinstance(lost, RunnerLost):
                    slot.discard()
                self._refuse_when_closed()
                late = time.monotonic() > judging.started + TRYING_S
                if number == TRIES or late:
                    innocent = not judging.sent and isinstance(lost, EngineGone | NotStarted)
                    times = "once" if number == 1 else f"{number} times"
                    words = f"Judging failed {times} ({lost})."
                    raise (Untried if innocent else JudgeFault)(words) from None
            else:
                return

    def _try(self, slot: Slot, judging: _Judging) -> None:
        """Judge the submission once. Raises `Lost`, `JudgeFault` and `SandboxError`."""
        recording = judging.recording
        problem = recording.problem
        grader = self._running_grader()
        began = time.monotonic()
        recording.checks = grader.open(problem)
        parts = _Parts.of(problem, judging.files, recording)
        if (reason := parts.refusal(problem, recording.kind)) is not None:
            judging.refuse(reason, Verdict.CE)
            return
        opened = time.monotonic()
        box = slot.box(ZYGOTE_BYTES + problem.limits.memory_bytes)
        recording.environment = slot.environment
        recording.spans = {
            "open": round((opened - began) * 1000, 3),
            "box": round((time.monotonic() - opened) * 1000, 3),
        }
        limits = JobLimits.of(problem.limits_of(recording.kind))
        turns = _turns(problem, recording.kind)
        job = Job(
            id=f"{recording.id}-{secrets.token_hex(4)}",
            version=problem.version,
            files=parts.solution,
            seed=recording.seed,
            limits=limits,
            runner=f"{SHARED_FOLDER}/{box.id}.sock",
            tiers=turns,
            sent_s=time.monotonic(),
            visible_only=recording.kind == "run",
            scratch=parts.scratch,
            tests=parts.tests,
            dependencies=parts.dependencies,
            charts_of=judging.charts_of,
        )
        patience_s = 90 + 4 * limits.wall_s * turns
        judging.sent = True
        for event in grader.judge(job, patience_s):
            if isinstance(event, Finished) and recording.was_too_slow and not slot.answers():
                raise RunnerLost("the runner box does not answer")
            judging.listen(event)

    # --- boxes -------------------------------------------------------------------------------

    def recover(self) -> None:
        """Make every box that is not in use warm again. Raises `JudgeFault`, `SandboxError`."""
        with self._mending:
            self._running_grader()
            while (slot := self._pool.take_lost()) is not None:
                try:
                    slot.box()
                finally:
                    self._pool.give_back(slot)
            if self._reserve is not None:
                self._reserve.fill()

    def _running_grader(self) -> GraderBox:
        with self._starting:
            if self._grader is not None and not self._grader.gone:
                return self._grader
            self._refuse_when_closed()
            if self._grader is not None:
                self._grader.kill()
            self._renew_meeting_place()
            grader = wait_for_grader(self._launch_grader())
            self._grader = grader
            if self._closed.is_set():
                grader.kill()
            self._refuse_when_closed()
            return grader

    def _refuse_when_closed(self) -> None:
        if self._closed.is_set():
            raise Untried("the judge has been closed")

    def _renew_meeting_place(self) -> None:
        """What took all boxes at once may have taken the folder that they meet in."""
        states = self.boxes()
        if states["lost"] == sum(states.values()):
            self._shared.remove()
            self._shared = self._launcher.shared_dir()

    def _launch_grader(self) -> Box:
        return self._launcher.launch(grader_spec(len(self._slots)), self._shared)

    def _launch_runner(self) -> Box:
        return self._launcher.launch(runner_spec(), self._shared)

    def _kill_all(self) -> None:
        if self._grader is not None:
            self._grader.kill()
        for slot in self._slots:
            slot.kill()
        if self._reserve is not None:
            self._reserve.kill()

    # --- the keeper --------------------------------------------------------------------------

    def _keep(self) -> None:
        wait_s, next_ping = KEEPER_S, time.monotonic() + PING_EVERY_S
        while not self._closed.is_set():
            self._look.wait(wait_s)
            self._look.clear()
            if self._closed.is_set():
                return
            if time.monotonic() > next_ping:
                self._check_grader()
                self._check_runners()
                next_ping = time.monotonic() + PING_EVERY_S
            try:
                self.recover()
                wait_s = KEEPER_S
            except (JudgeFault, SandboxError):  # told by whoever needs a box meanwhile
                wait_s = min(2 * wait_s, KEEPER_LONGEST_S)

    def _check_grader(self) -> None:
        """End a grader that does not answer, asked twice: we may have been stopped ourselves."""
        grader = self._grader
        if grader is None or grader.gone or grader.answers() or grader.answers():
            return
        grader.kill()

    def _check_runners(self) -> None:
        """End idle boxes that do not answer: alive as far as one sees, but stopped from outside."""
        for slot in self._slots:
            if slot.state == "warm" and self._pool.take_this(slot):
                try:
                    if not slot.answers():
                        slot.discard()
                finally:
                    self._pool.give_back(slot)
        if self._reserve is not None:
            self._reserve.check()


@dataclass(frozen=True)
class _Parts:
    """The files of a submission by what they are for; `own` are those that the student wrote."""

    own: dict[str, bytes]
    solution: dict[str, bytes]
    scratch: bytes | None
    tests: dict[str, bytes]
    dependencies: dict[str, bytes]

    @classmethod
    def of(cls, problem: Problem, files: Mapping[str, bytes], recording: Recording) -> _Parts:
        """Sort them."""
        if recording.kind == "tests":
            own = dict(files)
            return cls(own, {}, None, dict(sorted(own.items())), {})
        needed = problem.needed_modules
        # What an earlier version of the exercise needed, and this one does not, is left out.
        own = {name: source for name, source in files.items() if "/" not in name}
        dependencies = {name: source for name, source in files.items() if name in needed}
        solution = dict(own)
        scratch = solution.pop(SCRATCH_FILE) if recording.scratch else None
        return cls(own, solution, scratch, {}, dependencies)

    def refusal(self, problem: Problem, kind: Kind) -> str | None:
        """Why nothing of it is read, in words; None when it is."""
        if kind == "tests" and not problem.takes_tests:
            return f"{problem.manifest.title} takes no tests."
        if kind == "tests" and not all(map(is_tests_file, self.own)):
            return "Tests are files such as tests/test_own.py: rename or leave out the others."
        if kind == "tests" and not 1 <= len(self.own) <= MAX_TEST_FILES:
            return f"Tests are 1 to {MAX_TEST_FILES} files: send tests/test_own.py."
        return too_large(problem, self.own)


def _rehearsal_job(problem: Problem, rehearsal: Rehearsal, seed: int) -> Job:
    return Job(
        id=f"rehearsal-{secrets.token_hex(8)}",
        version=problem.version,
        files={},
        seed=seed,
        limits=JobLimits.of(problem.limits),
        runner="",
        tiers=0,
        sent_s=time.monotonic(),
        rehearsal=rehearsal,
    )


def _turns(problem: Problem, kind: Kind) -> int:
    """How often that much may be used."""
    if kind != "tests":
        return len(problem.tiers)
    return REFERENCE_RUNS + len(problem.accepted) + len(problem.graded_mutants)


def too_large(problem: Problem, files: Mapping[str, bytes]) -> str | None:
    """Why the sources are refused unparsed, in words; None when they are not."""
    if len(files) > MAX_FILES:
        return f"There are more than {MAX_FILES} files, so they were not read. Join some of them."
    limit = problem.limits.source_bytes
    if source_size(files) <= limit:
        return None
    return f"The source is longer than {limit:,} bytes, so it was not read. Shorten it."
