from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from judge.problem import Problem
from judge.service.caretaker import Caretaker
from judge.service.database import Database, connected, plain_url
from judge.service.queue import HEARTBEAT_S, GiveBack, JudgeTask, PrepareTask, Queue, Task
from judge.service.store import Store
from tests.service.made import ROOMY, accepted, claimed, double, finish, new

SOON_S = 15.0


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return double(tmp_path)


class Service:
    """A store and its queue, with a problem that has been prepared."""

    def __init__(self, url: str, database: Database, problem: Problem) -> None:
        self.url = url
        self.database = database
        self.queue = Queue(url, database)
        self.store = Store(database, self.queue)
        self.problem = problem

    async def wait_until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(SOON_S):
            while not await condition():
                await asyncio.sleep(0.05)

    async def idle(self) -> bool:
        jobs = await self.queue.stats()
        return (jobs.waiting, jobs.running) == (0, 0)

    async def execute(self, statement: str, **values: object) -> None:
        async with self.database.engine.begin() as connection:
            await connection.execute(text(statement), values)

    @asynccontextmanager
    async def working(
        self, handle: Callable[[Task], Awaitable[None]], slots: int = 1
    ) -> AsyncIterator[asyncio.Event]:
        """A worker, until the end."""
        stop = asyncio.Event()
        running = asyncio.create_task(self.queue.run(handle, slots, stop))
        try:
            yield stop
        finally:
            stop.set()
            await running


def run(url: str, problem: Problem, test: Callable[[Service], Awaitable[None]]) -> None:
    async def with_service() -> None:
        async with connected(url) as database:
            service = Service(url, database, problem)
            await service.store.publish([problem])
            await service.queue.cancel(PrepareTask(problem.version))
            await test(service)

    asyncio.run(with_service())


def recorder() -> tuple[list[Task], Callable[[Task], Awaitable[None]]]:
    taken: list[Task] = []

    async def handle(task: Task) -> None:
        taken.append(task)

    return taken, handle


def test_runs_come_before_submissions_and_rejudges_after(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        store = service.store
        old = new(problem, "old")
        claim = await claimed(store, await accepted(store, old))
        await finish(store, claim, problem)
        await service.queue.cancel(JudgeTask(claim.judging))
        rejudge = await store.rejudge(old.id, problem.version, ROOMY)
        submit = await accepted(store, new(problem, "ann"))
        tried = await accepted(store, new(problem, "bob", kind="run"))
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
        assert taken == [JudgeTask(tried), JudgeTask(submit), JudgeTask(rejudge)]

    run(database_url, problem, test)


def test_a_job_made_with_its_row_is_like_one_that_is_queued(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        judging = await accepted(service.store, new(problem))
        async with service.database.pool.connection() as connection:
            kept = "SELECT to_jsonb(job) - 'id' FROM procrastinate_jobs AS job ORDER BY id"
            [(made,)] = await (await connection.execute(kept)).fetchall()
            await service.queue.enqueue(connection, JudgeTask(judging), made["priority"])
            rows = await (await connection.execute(kept)).fetchall()
        assert rows == [(made,), (made,)]

    run(database_url, problem, test)


def test_a_flood_of_runs_delays_the_submission_of_another_by_one_at_most(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        store = service.store
        flood = [await accepted(store, new(problem, "flood", kind="run")) for _ in range(20)]
        other = await accepted(store, new(problem, "ann"))
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
        assert taken[:3] == [JudgeTask(flood[0]), JudgeTask(other), JudgeTask(flood[1])]

    run(database_url, problem, test)


def test_a_flood_of_one_student_delays_another_by_one_submission_at_most(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        store = service.store
        flood = [await accepted(store, new(problem, "flood")) for _ in range(100)]
        others = [await accepted(store, new(problem, name)) for name in ("ann", "bob")]
        second = await accepted(store, new(problem, "ann"))
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
        place = {task: index for index, task in enumerate(taken)}
        assert place[JudgeTask(flood[0])] == 0
        assert [place[JudgeTask(each)] for each in others] == [1, 2]
        assert place[JudgeTask(second)] <= 4
        assert [place[JudgeTask(each)] for each in flood] == sorted(
            place[JudgeTask(each)] for each in flood
        )

    run(database_url, problem, test)


def test_as_many_run_at_once_as_there_are_slots(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        for _ in range(6):
            await accepted(service.store, new(problem))
        running, most = 0, 0

        async def handle(_task: Task) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.1)
            running -= 1

        async with service.working(handle, slots=3):
            await service.wait_until(service.idle)
        assert most == 3

    run(database_url, problem, test)


def test_what_is_given_back_is_taken_again(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        judging = await accepted(service.store, new(problem))
        taken: list[Task] = []

        async def handle(task: Task) -> None:
            taken.append(task)
            if len(taken) < 3:
                raise GiveBack

        async with service.working(handle):
            await service.wait_until(service.idle)
        assert taken == [JudgeTask(judging)] * 3

    run(database_url, problem, test)


def test_a_handler_that_fails_is_called_again(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        await accepted(service.store, new(problem))
        taken: list[Task] = []

        async def handle(task: Task) -> None:
            taken.append(task)
            if len(taken) < 2:
                raise ValueError("a bug")

        async with service.working(handle):
            await service.wait_until(service.idle)
        assert len(taken) == 2

    run(database_url, problem, test)


def test_preparing_a_problem_is_given_up_after_three_failures(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        await service.store.publish([problem])
        taken: list[Task] = []

        async def handle(task: Task) -> None:
            taken.append(task)
            raise ValueError("a bug")

        async with service.working(handle):
            await service.wait_until(service.idle)
        assert taken == [PrepareTask(problem.version)] * 3

    run(database_url, problem, test)


def test_what_is_cancelled_is_not_taken(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        first = await accepted(service.store, new(problem))
        second = await accepted(service.store, new(problem))
        await service.queue.cancel(JudgeTask(first))
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
        assert taken == [JudgeTask(second)]

    run(database_url, problem, test)


def test_stopping_waits_for_what_runs_and_takes_nothing_new(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        for _ in range(2):
            await accepted(service.store, new(problem))
        begun, ended = asyncio.Event(), asyncio.Event()

        async def handle(_task: Task) -> None:
            begun.set()
            await asyncio.sleep(0.5)
            ended.set()

        async with service.working(handle) as stop:
            await begun.wait()
            stop.set()
        assert ended.is_set()
        assert (await service.queue.stats()).waiting == 1

    run(database_url, problem, test)


def test_a_worker_that_ends_is_not_taken_for_dead(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        await accepted(service.store, new(problem))
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def handle(_task: Task) -> None:
            begun.set()
            await go_on.wait()

        async with service.working(handle) as stop:
            await begun.wait()
            stop.set()
            await asyncio.sleep(3 * HEARTBEAT_S)
            rescued = await service.queue.rescue(2 * HEARTBEAT_S, nothing)
            go_on.set()
        assert rescued == 0
        assert await service.idle()

    run(database_url, problem, test)


def test_a_worker_survives_the_loss_of_all_its_connections(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        taken, handle = recorder()
        async with service.working(handle):
            await accepted(service.store, new(problem))
            await service.wait_until(service.idle)
            await asyncio.to_thread(cut_connections, service.url)
            await service.database.dispose()
            await accepted(service.store, new(problem))
            await service.wait_until(service.idle)
        assert len(taken) == 2

    run(database_url, problem, test)


def cut_connections(url: str) -> None:
    with psycopg.connect(plain_url(url), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def nothing() -> list[tuple[JudgeTask, int]]:
    return []


# --- rescue ---------------------------------------------------------------------------------------


def test_the_jobs_of_a_silent_worker_are_queued_again(database_url: str, problem: Problem) -> None:
    async def test(service: Service) -> None:
        await accepted(service.store, new(problem))
        await service.execute(
            "WITH silent AS (INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - interval '9 s') RETURNING id)"
            " UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM silent)"
        )
        assert await service.queue.rescue(10.0, nothing) == 0
        assert await service.queue.rescue(8.0, nothing) == 1
        assert (await service.queue.stats()).waiting == 1

    run(database_url, problem, test)


def test_a_job_of_a_worker_nobody_knows_is_queued_again(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        await accepted(service.store, new(problem))
        await service.execute("UPDATE procrastinate_jobs SET status = 'doing', worker_id = NULL")
        assert await service.queue.rescue(8.0, nothing) == 1

    run(database_url, problem, test)


def test_a_row_without_a_job_gets_one_and_one_with_a_job_no_other(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        lost = await accepted(service.store, new(problem))
        await accepted(service.store, new(problem))
        await service.queue.cancel(JudgeTask(lost))
        wanted = partial(service.store.unfinished, 0.0)
        assert len(await wanted()) == 2
        assert await service.queue.rescue(8.0, wanted) == 1
        assert await service.queue.rescue(8.0, wanted) == 0
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
        assert JudgeTask(lost) in taken
        assert len(taken) == 2

    run(database_url, problem, test)


def test_a_job_that_its_own_living_worker_forgot_is_queued_again(
    database_url: str, problem: Problem
) -> None:
    # Its handler ended while the database was away, say, so that the row could not be changed.
    async def test(service: Service) -> None:
        taken, handle = recorder()
        async with service.working(handle):
            await service.wait_until(service.idle)
            judging = await accepted(service.store, new(problem))
            await service.wait_until(service.idle)
            await service.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, worker_id)"
                " SELECT 'judge', 'judge', jsonb_build_object('judging', CAST(:judging AS int)),"
                " 'doing', max(id) FROM procrastinate_workers",
                judging=judging,
            )
            await service.wait_until(service.idle)
        assert taken == [JudgeTask(judging)] * 2

    run(database_url, problem, test)


def test_of_several_caretakers_one_acts_and_the_lost_is_found(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        lost = await accepted(service.store, new(problem))
        await service.queue.cancel(JudgeTask(lost))
        await service.execute("UPDATE judgings SET created_at = now() - interval '1 minute'")
        stop = asyncio.Event()
        caretakers = [
            asyncio.create_task(
                Caretaker(service.database.engine, service.store, service.queue).run(stop)
            )
            for _ in range(3)
        ]

        async def queued() -> bool:
            return (await service.queue.stats()).waiting > 0

        await service.wait_until(queued)
        await asyncio.sleep(0.5)
        stop.set()
        await asyncio.gather(*caretakers)
        assert (await service.queue.stats()).waiting == 1

    run(database_url, problem, test)


def test_what_is_finished_while_the_jobs_are_looked_at_is_not_lost(
    database_url: str, problem: Problem
) -> None:
    async def test(service: Service) -> None:
        judging = await accepted(service.store, new(problem))

        async def finish_first() -> list[tuple[JudgeTask, int]]:
            wanted = await service.store.unfinished(0.0)
            await service.queue.cancel(JudgeTask(judging))
            return wanted

        assert await service.queue.rescue(8.0, finish_first) == 0

    run(database_url, problem, test)
