"""A worker: takes what is queued, has it judged, and stores what came of it.

Theory of operation
-------------------
The event loop talks to the database; threads, one per slot, talk to the judge. A judging is
claimed, judged and stored, and only then is its job done. What can fail on the way:

- The judge (boxes, engine): the judging is given back, for any worker, and this one takes nothing
  new until its boxes are warm again. The store counts attempts; after the last the verdict is JE.
- The database: a verdict is kept in memory and offered again for a while. Should that fail too,
  or the lease be lost meanwhile, somebody else judges it, and the first complete verdict wins.
- This process: its jobs are queued again by whoever looks after the queue.

Asked to stop, a worker takes nothing new and lets what runs finish for a while; the rest is given
back uncounted, because it is not the submission's doing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import structlog

from judge.events import CheckFinished, Finished, Restarted, TierFinished
from judge.faults import BrokenChecks, JudgeFault, Untried
from judge.grader.messages import CheckCard
from judge.judging import Judge
from judge.manifest import ProblemError
from judge.own_tests import TESTS_TIER, TESTS_TITLE
from judge.problem import Problem, parse_problem
from judge.recording import Recording
from judge.results import CheckResult, Limits, Result, TierResult, Timing
from judge.scratch import has_scratch
from judge.service.database import DATABASE_AWAY
from judge.service.folding import replay
from judge.service.outbox import Outbox
from judge.service.queue import GiveBack, JudgeTask, PrepareTask, Queue, Task
from judge.service.records import MAX_ATTEMPTS, Claim, Facts, UnknownRow, WorkerRow, WorkerState
from judge.service.store import Store
from judge.service.waiting import either
from judge.verdicts import Verdict
from sandbox.boxes import SandboxError

BEAT_S = 2.0
GRACE_S = 20.0  # for what is being judged when the worker is asked to stop
PARTING_S = 5.0  # for giving back what is not finished then
RECOVERY_S = 1.0  # between two tries to have warm boxes again
KEPT_S = 60.0  # how long a verdict is offered to a database that is away
OFFER_FIRST_S = 0.1
OFFER_LONGEST_S = 2.0
AGAIN_S = 1.0  # before a job that was given back is taken again
KEPT_PROBLEMS = 32
REFERENCE_SEED = 0
EXHAUSTED = (
    f"This was our fault, not yours. Judging began {MAX_ATTEMPTS} times, and each time something "
    "of ours failed. Submit it again; if that does not help, tell whoever runs this judge."
)
UNREADABLE = (
    "This problem is broken, not your code: {} cannot be judged by this version of the judge."
)
NO_LIMITS = Limits(  # a problem that cannot be read states none; these are the least there can be
    wall_s=1, cpu_s=1, memory_bytes=64 << 20, output_bytes=1024, source_bytes=1024
)
LOG = structlog.get_logger()

T = TypeVar("T")


class _Abandoned(Exception):
    """The worker has to end now; what it does is given back."""


class Worker:
    """Judges what a queue holds, in the slots of one warm judge."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        judge: Judge,
        *,
        name: str,
        slots: int,
        grace_s: float = GRACE_S,
    ) -> None:
        self._store = store
        self._queue = queue
        self._judge = judge
        self._name = name
        self._slots = slots
        self._grace_s = grace_s
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="judging")
        self._problems: OrderedDict[str, Problem] = OrderedDict()
        self._state: WorkerState = "ready"
        self._why = ""
        self._busy = 0  # threads that use the judge
        self._pause = asyncio.Event()  # nothing new is taken
        self._abandon = asyncio.Event()  # nothing is finished any more

    async def run(self, stop: asyncio.Event, at_once: asyncio.Event) -> None:
        """Work until `stop` is set, and no longer than it takes once `at_once` is."""
        beating = asyncio.create_task(self._beat())
        try:
            while not stop.is_set():
                self._pause.clear()
                await self._take(stop, at_once)
                if not stop.is_set():
                    await self._recover(stop)
        finally:
            self._abandon.set()
            beating.cancel()
            self._threads.shutdown(wait=False, cancel_futures=True)
            with contextlib.suppress(*DATABASE_AWAY):
                await self._store.leave(self._name)

    async def _take(self, stop: asyncio.Event, at_once: asyncio.Event) -> None:
        """Do job after job until there is a fault of ours, or we are asked to stop."""
        taking = asyncio.create_task(self._queue.run(self._handle, self._slots, self._pause))
        await either(taking, stop)
        if not taking.done():
            self._set_state("stopping", "it was asked to stop")
            self._pause.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._grace_s):
                    await either(taking, at_once)
            self._abandon.set()  # what still runs is given back
            await asyncio.wait({taking}, timeout=PARTING_S)
        if taking.done():
            taking.result()
        else:
            taking.cancel()

    async def _recover(self, stop: asyncio.Event) -> None:
        """Return once the boxes are warm again, or we are asked to stop."""
        loop = asyncio.get_running_loop()
        while not stop.is_set():
            recovering = loop.run_in_executor(self._threads, self._judge.recover)
            await either(recovering, stop)
            if not recovering.done():
                recovering.add_done_callback(_ignore)
                return
            try:
                recovering.result()
            except (JudgeFault, SandboxError) as fault:
                self._why = _first_line(fault)
            else:
                self._set_state("ready", "")
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), RECOVERY_S)

    # --- one job ---------------------------------------------------------------------------------

    async def _handle(self, task: Task) -> None:
        """Do one job. Returning means that it is done; raising, that it is taken again."""
        try:
            match task:
                case JudgeTask(judging):
                    await self._judge_one(judging)
                case PrepareTask(version):
                    await self._prepare(version)
        except DATABASE_AWAY as error:
            LOG.warning("database away", error=_first_line(error))
            raise GiveBack(AGAIN_S) from None

    async def _judge_one(self, judging: int) -> None:
        claim = await self._store.claim(judging, self._name)
        if claim is None:
            return
        log = LOG.bind(submission=claim.submission, judging=judging, attempt=claim.lease)
        outbox = Outbox(self._store, claim)
        try:
            result = await self._result(claim, outbox)
            stored = await self._offer(claim, result, outbox)
        except _Abandoned:
            if outbox.begun:
                await self._store.append(claim, [Restarted()])
            await self._store.give_back(claim, counted=False)
            log.info("given back, because this worker ends")
            raise GiveBack from None
        except JudgeFault as fault:
            self._pause_for(fault)
            counted = not isinstance(fault, Untried)
            log.warning("judging failed", fault=_first_line(fault), counted=counted)
            await self._store.give_back(claim, counted=counted)
            raise GiveBack(AGAIN_S) from None
        log.info(
            "judged" if stored else "judged, but another verdict was first",
            problem=claim.problem,
            verdict=str(result.verdict),
            queued_ms=claim.queued_ms,
            judged_ms=result.timing.judged_ms,
        )

    async def _result(self, claim: Claim, outbox: Outbox) -> Result:
        """What comes of an attempt. Raises `JudgeFault`, `_Abandoned`."""
        if claim.exhausted:
            return await self._exhausted(claim, outbox)
        if (graded := await self._graded(claim, outbox)) is not None:
            return graded
        try:
            problem = await self._problem(claim.version)
        except (ProblemError, UnknownRow) as error:  # another worker may be of another version
            raise JudgeFault(f"{claim.problem} cannot be read: {error}") from None

        def attempt() -> Result:
            return self._judge.attempt(
                problem,
                claim.files,
                id=claim.submission,
                seed=claim.seed,
                kind=claim.kind,
                on_event=outbox.put,
            )

        async with outbox.writing():
            return await self._in_thread(attempt)

    async def _graded(self, claim: Claim, outbox: Outbox) -> Result | None:
        """The grade that the same tests have been given before, if any was; as if it were new.

        Whoever asks for a submission to be judged again means it.
        """
        if claim.kind != "tests" or claim.number > 1:
            return None
        began = time.monotonic()
        earlier = await self._store.graded(claim, self._judge.environment)
        if earlier is None:
            return None
        taken_ms = round((time.monotonic() - began) * 1000, 3)
        timing = Timing(judged_ms=taken_ms, spans={"cached": taken_ms})
        own = {"id": claim.submission, "seed": claim.seed, "timing": timing}
        result = earlier.model_copy(update=own)
        for event in replay(result):
            outbox.put(event)
        return result

    async def _offer(self, claim: Claim, result: Result, outbox: Outbox) -> bool:
        """Store the verdict, however long that takes within reason; False if another was first."""
        until, wait_s = time.monotonic() + KEPT_S, OFFER_FIRST_S
        timed = _timed(result, claim)
        while True:
            try:
                return await self._store.finish(claim, timed, outbox.rest, outbox.events)
            except DATABASE_AWAY as error:
                if time.monotonic() > until or self._abandon.is_set():
                    raise
                LOG.warning(
                    "verdict kept, the database is away",
                    submission=claim.submission,
                    error=_first_line(error),
                )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._abandon.wait(), wait_s)
            wait_s = min(2 * wait_s, OFFER_LONGEST_S)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Have a thread do it. Raises what it raises, and `_Abandoned` when it takes too long."""
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        self._busy += 1
        try:
            await either(working, self._abandon)
        finally:
            self._busy -= 1
        if not working.done():
            working.add_done_callback(_ignore)
            raise _Abandoned
        return working.result()

    async def _problem(self, version: str) -> Problem:
        """A problem version. Raises `ProblemError`, `UnknownRow`."""
        known = self._problems.get(version)
        if known is None:
            slug, contents = await self._store.contents(version)
            known = await asyncio.to_thread(parse_problem, Path("problems", slug), contents)
            assert known.version == version
        self._problems[version] = known
        self._problems.move_to_end(version)
        if len(self._problems) > KEPT_PROBLEMS:
            self._problems.popitem(last=False)
        return known

    # --- verdicts without a try ------------------------------------------------------------------

    async def _exhausted(self, claim: Claim, outbox: Outbox) -> Result:
        """The verdict on what was tried often enough, whatever keeps it from being tried."""
        try:
            problem = await self._problem(claim.version)
            facts = await self._store.facts([claim.version])
        except DATABASE_AWAY:
            raise
        except Exception:  # anything at all, else it would be tried for ever
            LOG.exception("problem unreadable", problem=claim.problem, version=claim.version)
            return self._unreadable(claim, outbox)
        checks = facts[claim.version].checks if claim.version in facts else ()
        return self._je(claim, problem, checks, outbox)

    def _je(
        self, claim: Claim, problem: Problem, checks: Sequence[CheckCard], outbox: Outbox
    ) -> Result:
        """The verdict on what was tried often enough."""
        recording = Recording(
            problem=problem,
            kind=claim.kind,
            seed=claim.seed,
            environment=self._judge.environment,
            id=claim.submission,
            checks=list(checks),
            scratch=has_scratch(claim.files, claim.kind, problem.file_names),
        )
        for event in recording.refused(EXHAUSTED, Verdict.JE):
            recording.add(event)
            outbox.put(event)
        return recording.result(judged_ms=0.0)

    def _unreadable(self, claim: Claim, outbox: Outbox) -> Result:
        """The verdict where not even the problem's own words can be had."""
        message = UNREADABLE.format(claim.problem)
        check = CheckResult(
            id="checks",
            title="The checks can be run.",
            kind="interface",
            why="",
            verdict=Verdict.JE,
            message=message,
        )
        tier_id, title = ("T0", "Interface")
        if claim.kind == "tests":
            tier_id, title = (TESTS_TIER, TESTS_TITLE)
        tier = TierFinished(tier=tier_id, verdict=Verdict.JE, passed=0, total=1)
        outbox.put(CheckFinished(tier=tier.tier, check=check))
        outbox.put(tier)
        outbox.put(Finished(verdict=Verdict.JE, score=0.0))
        return Result(
            id=claim.submission,
            problem=claim.problem,
            problem_version=claim.version,
            kind=claim.kind,
            state="finished",
            verdict=Verdict.JE,
            score=0.0,
            tiers=[
                TierResult(
                    id=tier.tier,
                    title=title,
                    verdict=tier.verdict,
                    passed=tier.passed,
                    total=tier.total,
                    checks=[check],
                )
            ],
            seed=claim.seed,
            limits=NO_LIMITS,
            environment=self._judge.environment,
        )

    # --- problems --------------------------------------------------------------------------------

    async def _prepare(self, version: str) -> None:
        """Find out what only a judge can about a problem version."""
        try:
            problem = await self._problem(version)
            facts = await self._in_thread(lambda: self._facts(problem))
        except UnknownRow:
            return
        except (ProblemError, BrokenChecks) as broken:
            facts = Facts(broken=str(broken))
        except _Abandoned:
            raise GiveBack from None
        except JudgeFault as fault:
            LOG.warning("preparing failed", version=version, fault=_first_line(fault))
            self._pause_for(fault)
            raise GiveBack(AGAIN_S) from None
        await self._store.prepared(version, facts)
        if facts.broken:
            LOG.warning("problem broken", version=version, why=facts.broken)
        else:
            LOG.info("prepared", version=version)

    def _facts(self, problem: Problem) -> Facts:
        checks = self._judge.checks(problem)
        files = {problem.main_file: problem.reference}
        result = self._judge.attempt(problem, files, seed=REFERENCE_SEED, charts_of="reference")
        return Facts(checks, result.charts)

    # --- how the worker is -----------------------------------------------------------------------

    def _pause_for(self, fault: Exception) -> None:
        """Take nothing new until the boxes are known to be warm."""
        if not self._pause.is_set():
            self._set_state("waiting", _first_line(fault))
            self._pause.set()

    async def _beat(self) -> None:
        """Say how the worker is, every now and then; notice when all boxes are lost."""
        beats_alone = 0
        while True:
            boxes = self._judge.boxes()
            alone = not self._busy and boxes["lost"] == sum(boxes.values())
            beats_alone = beats_alone + 1 if alone else 0
            if beats_alone > 1:  # a judge that can help itself has begun to by now
                self._pause_for(JudgeFault("all boxes were lost"))
            try:
                await self._store.beat(self._row())
            except DATABASE_AWAY:
                pass  # its silence will be noticed, and nothing else can be done
            except Exception:  # a worker that cannot be seen is one that is not there
                LOG.exception("beat failed")
            await asyncio.sleep(BEAT_S)

    def _row(self) -> WorkerRow:
        return WorkerRow(
            id=self._name,
            host=platform.node(),
            pid=os.getpid(),
            sandbox=self._judge.environment.sandbox,
            slots=self._slots,
            state=self._state,
            why=self._why,
            boxes=self._judge.boxes(),
        )

    def _set_state(self, state: WorkerState, why: str) -> None:
        self._state, self._why = state, why
        LOG.info("worker", name=self._name, state=state, why=why)


def _timed(result: Result, claim: Claim) -> Result:
    """The result with what happened before it was judged in its timing."""
    before = {"accepted": claim.accepted_ms, "claimed": claim.queued_ms}
    spans = before | result.timing.spans
    timing = Timing(queued_ms=claim.queued_ms, judged_ms=result.timing.judged_ms, spans=spans)
    return result.model_copy(update={"timing": timing})


def _ignore(work: asyncio.Future[T]) -> None:
    """Look at what became of work that nobody waits for, so that nobody is told of it."""
    if not work.cancelled():
        work.exception()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
