"""A worker on a real database, with a judge whose answers a test decides."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from judge.events import (
    ChartDrawn,
    CheckFinished,
    Event,
    Finished,
    Restarted,
    Started,
    StreamEvent,
    TierFinished,
    TierStarted,
)
from judge.faults import BrokenChecks, JudgeFault, Untried
from judge.grader.messages import CheckCard
from judge.judging import Judge, OnEvent
from judge.problem import Problem, content_hash
from judge.recording import Recording
from judge.results import Chart, ChartSource, CheckResult, Environment, Kind, Result
from judge.scratch import SCRATCH_FILE
from judge.service.database import DATABASE_AWAY, Database, connected
from judge.service.queue import JudgeTask, PrepareTask, Queue
from judge.service.records import StoredJudging
from judge.service.store import Store
from judge.service.worker import EXHAUSTED, Worker
from judge.verdicts import Verdict
from tests.service.made import ROOMY, double, new, newest

SOON_S = 30.0
CARDS = [
    CheckCard("T0", "test_call", "It can be called.", "interface", "Later checks call it."),
    CheckCard("T1", "test_values", "Every entry is doubled.", "oracle", "All is built on it."),
]
CHART = Chart(id="c", tier="T1", title="C", source="submission", spec={}, table=[])
WARM = {"warm": 2, "busy": 0, "starting": 0, "lost": 0}


class ScriptedJudge(Judge):
    """Has no boxes: what an attempt does is up to the test, in `attempts`, one after the other.

    The last goes on for ever. `broken` and `away` make it fail as a judge can.
    """

    def __init__(self, *attempts: Callable[[OnEvent], None]) -> None:
        self.attempts = list(attempts or [accept])
        self.made = 0
        self.recoveries = 0
        self.broken = ""
        self.away = False
        self.seeds: list[int | None] = []

    @property
    def environment(self) -> Environment:
        return Environment(sandbox="scripted", image="", torch="2", numpy="2")

    def boxes(self) -> dict[str, int]:
        return WARM

    def checks(self, problem: Problem) -> list[CheckCard]:
        if self.broken:
            raise BrokenChecks(problem.slug, "problem.toml", 1, self.broken)
        return CARDS

    def attempt(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        id: str | None = None,  # noqa: A002  # the name it has in a result
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
        charts_of: ChartSource = "submission",
    ) -> Result:
        assert set(files) == {"solution.py"} | ({SCRATCH_FILE} if kind == "run" else set())
        self.made += 1
        self.seeds.append(seed)
        recording = Recording(
            problem=problem, kind=kind, seed=seed or 0, environment=self.environment, id=id or "-"
        )

        def tell(event: Event) -> None:
            if isinstance(event, ChartDrawn):
                event = ChartDrawn(chart=event.chart.model_copy(update={"source": charts_of}))
            recording.add(event)
            if on_event is not None:
                on_event(event)

        act = self.attempts.pop(0) if len(self.attempts) > 1 else self.attempts[0]
        act(tell)
        return recording.result(judged_ms=1.0)

    def recover(self) -> None:
        self.recoveries += 1
        if self.away:
            raise JudgeFault("no engine answers")


def tier(tell: OnEvent, index: int) -> None:
    card = CARDS[index]
    check = CheckResult(
        id=card.id, title=card.title, kind=card.kind, why=card.why, verdict=Verdict.AC
    )
    tell(TierStarted(tier=card.tier))
    tell(CheckFinished(tier=card.tier, check=check))
    tell(TierFinished(tier=card.tier, verdict=Verdict.AC, passed=1, total=1))


def accept(tell: OnEvent) -> None:
    tier(tell, 0)
    tier(tell, 1)
    tell(ChartDrawn(chart=CHART))
    tell(Finished(verdict=Verdict.AC, score=1.0, spans={"T0": 1.0}))


def fail_with(fault: JudgeFault) -> Callable[[OnEvent], None]:
    def act(tell: OnEvent) -> None:
        tier(tell, 0)
        tell(Restarted())
        raise fault

    return act


def pausing(reached: threading.Event, go_on: threading.Event) -> Callable[[OnEvent], None]:
    """Accept, but stop after the first tier until told to go on."""

    def act(tell: OnEvent) -> None:
        tier(tell, 0)
        reached.set()
        assert go_on.wait(SOON_S)
        tier(tell, 1)
        tell(Finished(verdict=Verdict.AC, score=1.0))

    return act


class Bench:
    """A store, its queue and workers on it."""

    def __init__(self, url: str, database: Database, problem: Problem) -> None:
        self.database = database
        self.queue = Queue(url, database)
        self.store = Store(database, self.queue)
        self.problem = problem
        self.stop = asyncio.Event()
        self.at_once = asyncio.Event()
        self.workers: list[asyncio.Task[None]] = []

    def start(self, judge: Judge, slots: int = 1, grace_s: float = 20.0) -> None:
        worker = Worker(
            self.store, self.queue, judge, name=f"w{len(self.workers)}", slots=slots,
            grace_s=grace_s,
        )  # fmt: skip
        self.workers.append(asyncio.create_task(worker.run(self.stop, self.at_once)))

    async def submit(self, *, scratch: bool = False) -> str:
        submission = new(self.problem, kind="run" if scratch else "submit")
        if scratch:
            files = {**submission.files, SCRATCH_FILE: b"print(1)\n"}
            submission = replace(submission, files=files)
        await self.store.accept(submission, ROOMY)
        return submission.id

    async def judging(self, submission: str) -> StoredJudging:
        stored = await self.store.submission(submission)
        assert stored is not None
        return stored.judging

    async def verdict(self, submission: str) -> StoredJudging:
        await self.until(lambda: self._finished(submission))
        return await self.judging(submission)

    async def _finished(self, submission: str) -> bool:
        return (await self.judging(submission)).state == "finished"

    async def events(self, submission: str) -> list[StreamEvent]:
        judging = await newest(self.store, submission)
        return [each.event for each in await self.store.events_after(judging, 0)]

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(SOON_S):
            while not await condition():
                await asyncio.sleep(0.02)

    async def idle(self) -> bool:
        jobs = await self.queue.stats()
        return (jobs.waiting, jobs.running) == (0, 0)


def run(url: str, folder: Path, test: Callable[[Bench], Awaitable[None]]) -> None:
    async def with_bench() -> None:
        problem = double(folder)
        async with connected(url) as database:
            bench = Bench(url, database, problem)
            await bench.store.publish([problem])
            await bench.queue.cancel(PrepareTask(problem.version))
            try:
                await test(bench)
            finally:
                bench.stop.set()
                bench.at_once.set()
                await asyncio.gather(*bench.workers)

    asyncio.run(with_bench())


def names(events: list[StreamEvent]) -> list[str]:
    return [event.type for event in events]


WHOLE = [
    "queued", "started", "tier_started", "check_finished", "tier_finished", "tier_started",
    "check_finished", "tier_finished", "chart", "finished",
]  # fmt: skip


def test_a_submission_is_judged_and_everything_about_it_stored(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge()
        bench.start(judge)
        submission = await bench.submit()
        judging = await bench.verdict(submission)
        result = judging.result
        assert result is not None
        assert (judging.verdict, judging.attempts, judging.worker) == (Verdict.AC, 1, "w0")
        assert (result.id, result.seed, judge.seeds) == (submission, 7, [7])
        assert set(result.timing.spans) == {"accepted", "claimed", "T0", "stored"}
        assert result.timing.queued_ms == result.timing.spans["claimed"] > 0
        assert result.environment.sandbox == "scripted"
        assert names(await bench.events(submission)) == WHOLE
        await bench.until(bench.idle)

    run(database_url, tmp_path, test)


def test_a_tier_can_be_seen_while_the_next_one_runs(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)))
        submission = await bench.submit()

        async def tier_seen() -> bool:
            return "tier_finished" in names(await bench.events(submission))

        await bench.until(tier_seen)
        assert (await bench.judging(submission)).state == "judging"
        go_on.set()
        await bench.verdict(submission)

    run(database_url, tmp_path, test)


def test_a_fault_of_ours_is_tried_again_and_what_was_said_is_void(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge(fail_with(JudgeFault("a box died")), accept)
        bench.start(judge)
        submission = await bench.submit()
        judging = await bench.verdict(submission)
        assert (judging.verdict, judging.attempts, judge.recoveries) == (Verdict.AC, 2, 1)
        told = await bench.events(submission)
        last = max(index for index, event in enumerate(told) if isinstance(event, Restarted))
        assert names(told[last + 1 :]) == WHOLE[1:]
        assert names(told).count("finished") == 1

    run(database_url, tmp_path, test)


def test_a_submission_that_always_fails_is_je_after_three_attempts(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge(fail_with(JudgeFault("a box died")))
        bench.start(judge)
        submission = await bench.submit()
        judging = await bench.verdict(submission)
        assert (judging.verdict, judge.made) == (Verdict.JE, 3)
        assert judging.result is not None
        assert [each.verdict for each in judging.result.tiers] == [Verdict.JE, Verdict.SK]
        assert judging.result.tiers[0].checks[0].message == EXHAUSTED
        told = await bench.events(submission)
        assert names(told).count("finished") == 1
        await bench.until(bench.idle)

    run(database_url, tmp_path, test)


def test_a_scratch_run_that_always_fails_is_je_in_its_own_tier(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        bench.start(ScriptedJudge(fail_with(JudgeFault("a box died"))))
        judging = await bench.verdict(await bench.submit(scratch=True))
        assert judging.result is not None
        assert [(each.id, each.verdict) for each in judging.result.tiers] == [
            ("scratch", Verdict.JE), ("T0", Verdict.SK), ("T1", Verdict.SK),
        ]  # fmt: skip
        assert judging.result.tiers[0].checks[0].message == EXHAUSTED
        await bench.until(bench.idle)

    run(database_url, tmp_path, test)


def test_tests_of_a_problem_that_cannot_be_read_are_je_in_their_own_tier(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        await bench.store.publish([replace(bench.problem, contents={"problem.toml": b"?"})])
        version = content_hash({"problem.toml": b"?"})
        submission = replace(new(bench.problem, kind="tests"), version=version)
        await bench.store.accept(submission, ROOMY)
        bench.start(ScriptedJudge())
        judging = await bench.verdict(submission.id)
        assert judging.result is not None
        assert [(each.id, each.title) for each in judging.result.tiers] == [("tests", "Your tests")]
        assert (judging.verdict, judging.failed_tier) == (Verdict.JE, "tests")

    run(database_url, tmp_path, test)


def test_an_engine_that_is_away_costs_no_submission_an_attempt(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge(*[fail_with(Untried("no engine answers"))] * 2, accept)
        judge.away = True
        bench.start(judge)
        submission = await bench.submit()

        async def waiting() -> bool:
            return [row.state for row in await bench.store.workers()] == ["waiting"]

        await bench.until(waiting)
        assert (await bench.store.workers())[0].why == "no engine answers"
        made = judge.made
        await asyncio.sleep(2.5)
        assert judge.made == made == 1, "it went on taking jobs"
        judge.away = False
        judging = await bench.verdict(submission)
        assert (judging.verdict, judging.attempts) == (Verdict.AC, 1)

    run(database_url, tmp_path, test)


def test_another_worker_takes_what_a_failing_one_gave_back(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        failing = ScriptedJudge(fail_with(JudgeFault("a box died")))
        failing.away = True
        bench.start(failing)
        submission = await bench.submit()

        async def given_back() -> bool:
            return failing.recoveries > 0

        await bench.until(given_back)
        bench.queue = Queue(str(bench.database.engine.url.render_as_string(False)), bench.database)
        bench.start(ScriptedJudge())
        judging = await bench.verdict(submission)
        assert (judging.verdict, judging.worker, failing.made) == (Verdict.AC, "w1", 1)

    run(database_url, tmp_path, test)


def test_a_lost_lease_ends_the_events_and_the_first_verdict_stays(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)))
        submission = await bench.submit()
        await asyncio.to_thread(reached.wait, SOON_S)
        other = await bench.store.claim(await newest(bench.store, submission), "another")
        assert other is not None
        go_on.set()  # judged all the same, and nobody else has a verdict yet
        judging = await bench.verdict(submission)
        assert (judging.verdict, judging.attempts) == (Verdict.AC, 2)
        told = await bench.events(submission)
        last = max(index for index, event in enumerate(told) if isinstance(event, Started))
        assert names(told[last:]) == ["started", *WHOLE[2:8], "finished"]
        assert judging.result is not None
        late = judging.result.model_copy(update={"verdict": Verdict.WA})
        said = [Finished(verdict=Verdict.WA, score=0)]
        assert not await bench.store.finish(other, late, said, said)
        assert (await bench.judging(submission)).verdict is Verdict.AC

    run(database_url, tmp_path, test)


def test_what_is_not_finished_when_a_worker_stops_is_given_back_uncounted(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)), grace_s=0.5)
        submission = await bench.submit()
        await asyncio.to_thread(reached.wait, SOON_S)
        await asyncio.sleep(0.2)
        bench.stop.set()
        async with asyncio.timeout(10):
            await bench.workers[0]
        judging = await bench.judging(submission)
        assert (judging.state, judging.attempts) == ("queued", 0)
        assert await bench.store.workers() == []
        go_on.set()
        bench.stop.clear()
        bench.start(ScriptedJudge())
        assert (await bench.verdict(submission)).verdict is Verdict.AC
        told = await bench.events(submission)
        last = max(index for index, event in enumerate(told) if isinstance(event, Restarted))
        assert names(told[last + 1 :]) == WHOLE[1:]

    run(database_url, tmp_path, test)


def test_what_finishes_soon_after_a_worker_was_asked_to_stop_is_stored(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)))
        submission, behind = await bench.submit(), await bench.submit()
        await asyncio.to_thread(reached.wait, SOON_S)
        bench.stop.set()
        await asyncio.sleep(0.2)
        go_on.set()
        async with asyncio.timeout(10):
            await bench.workers[0]
        assert (await bench.judging(submission)).verdict is Verdict.AC
        assert (await bench.judging(behind)).state == "queued"

    run(database_url, tmp_path, test)


def test_a_second_request_to_stop_ends_a_worker_at_once(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)), grace_s=60)
        submission = await bench.submit()
        await asyncio.to_thread(reached.wait, SOON_S)
        began = time.monotonic()
        bench.stop.set()
        await asyncio.sleep(0.1)
        bench.at_once.set()
        await bench.workers[0]
        assert time.monotonic() - began < 6
        go_on.set()
        assert (await bench.judging(submission)).attempts == 0

    run(database_url, tmp_path, test)


def test_a_verdict_outlives_a_database_that_drops_every_connection(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        reached, go_on = threading.Event(), threading.Event()
        bench.start(ScriptedJudge(pausing(reached, go_on)))
        submission = await bench.submit()
        await asyncio.to_thread(reached.wait, SOON_S)
        async with bench.database.engine.begin() as connection:
            await connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"))  # fmt: skip
        go_on.set()

        async def finished() -> bool:
            try:
                return (await bench.judging(submission)).state == "finished"
            except DATABASE_AWAY:  # one of our own connections was among them
                return False

        await bench.until(finished)
        judging = await bench.judging(submission)
        assert (judging.verdict, judging.attempts) == (Verdict.AC, 1)
        assert names(await bench.events(submission)).count("finished") == 1

    run(database_url, tmp_path, test)


def test_two_slots_judge_at_the_same_time(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        barrier = threading.Barrier(2, timeout=SOON_S)

        def together(tell: OnEvent) -> None:
            barrier.wait()
            accept(tell)

        bench.start(ScriptedJudge(together), slots=2)
        submissions = [await bench.submit() for _ in range(4)]
        for submission in submissions:
            assert (await bench.verdict(submission)).verdict is Verdict.AC

    run(database_url, tmp_path, test)


# --- problems ------------------------------------------------------------------------------------


def test_a_new_problem_is_prepared_with_its_checks_and_the_charts_of_its_reference(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge()
        await bench.store.publish([bench.problem])
        bench.start(judge)
        version = bench.problem.version

        async def prepared() -> bool:
            return version in await bench.store.facts([version])

        await bench.until(prepared)
        facts = (await bench.store.facts([version]))[version]
        assert (list(facts.checks), judge.seeds, facts.broken) == (CARDS, [0], "")
        assert [(chart.id, chart.source) for chart in facts.charts] == [("c", "reference")]

    run(database_url, tmp_path, test)


def test_a_problem_whose_checks_are_broken_is_known_to_be(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge()
        judge.broken = "line 3"
        await bench.store.publish([bench.problem])
        bench.start(judge)
        version = bench.problem.version

        async def prepared() -> bool:
            return version in await bench.store.facts([version])

        await bench.until(prepared)
        assert (await bench.store.facts([version]))[version].broken == (
            "problems/double/problem.toml:1: line 3"
        )

    run(database_url, tmp_path, test)


def test_a_problem_that_this_version_cannot_read_is_je_for_nobodys_code(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        contents = dict(bench.problem.contents) | {"problem.toml": b"shape = 'of the future'\n"}
        bench.problem = replace(bench.problem, contents=contents)
        await bench.store.publish([bench.problem])
        await bench.queue.cancel(PrepareTask(bench.problem.version))
        judge = ScriptedJudge()
        bench.start(judge)
        judging = await bench.verdict(await bench.submit())
        assert (judging.verdict, judge.made) == (Verdict.JE, 0)
        assert judging.result is not None
        assert "not your code" in judging.result.tiers[0].checks[0].message

    run(database_url, tmp_path, test)


def test_a_job_for_what_is_finished_or_gone_is_done(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        judge = ScriptedJudge()
        bench.start(judge)
        submission = await bench.submit()
        judging = await bench.verdict(submission)
        async with bench.database.engine.begin() as connection:
            raw = await connection.get_raw_connection()
            for number in (judging.id, 10**6):
                await bench.queue.enqueue(raw.driver_connection, JudgeTask(number), 1)  # type: ignore[arg-type]  # it is psycopg's
        await bench.until(bench.idle)
        assert judge.made == 1

    run(database_url, tmp_path, test)


@pytest.mark.parametrize("kind", ["submit", "run"])
def test_the_kind_reaches_the_judge(database_url: str, tmp_path: Path, kind: Kind) -> None:
    async def test(bench: Bench) -> None:
        bench.start(ScriptedJudge())
        submission = new(bench.problem, kind=kind)
        await bench.store.accept(submission, ROOMY)
        judging = await bench.verdict(submission.id)
        assert judging.result is not None
        assert judging.result.kind == kind

    run(database_url, tmp_path, test)
