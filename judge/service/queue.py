"""The queue: Procrastinate, behind five methods, and `JOB`, which queues from within a statement.

Theory of operation
-------------------
A job is a row beside ours, made in the same transaction as the row it is about. Workers take the
one with the highest priority, oldest first; priorities are ours (`judge.service.store`). A job is
deleted when its handler has returned, which is after the verdict is committed.

What Procrastinate leaves open is closed here:

- A worker that dies keeps its jobs. `rescue` queues the jobs of workers whose heartbeat is old
  again. How often one may be tried is for the store to say, which counts attempts.
- A job may be lost, or its row never be made. `rescue` makes it again for what should have one.
- A worker that was paused for long, or whose database went away, ends; `run` starts another.
- A job whose handler has ended, but not its row (the database was away just then), would look
  busy for ever. `run` compares what it runs with what the rows say.
- Jobs that are queued again ring no bell, so workers also look once in a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import structlog
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.worker import Worker
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from judge.service.database import CONNECTION, DATABASE_AWAY, Database, plain_url
from judge.service.pool import Connection, is_quiet

HEARTBEAT_S = 2.0
POLL_S = 1.0
FORGOTTEN_S = 600.0  # a worker silent for so long is struck off the list
RESTART_S = 1.0
RETRY_S = 2.0
PREPARE_ATTEMPTS = 3
QUEUE = "judge"
JUDGE = "judge"  # the name of the task that judges
# What `Queue.enqueue` does, as an expression: it queues the job for the row `judging` of the
# statement that makes it, with the parameter `priority`.
JOB = f"""
    procrastinate_defer_jobs_v1(ARRAY[CAST(ROW(
        '{QUEUE}', '{JUDGE}', CAST(%(priority)s AS integer), NULL, NULL,
        jsonb_build_object('judging', judging.id), NULL
    ) AS procrastinate_job_to_defer_v1)])
"""
# What the queue commits need not survive a crash of the database: the work is done again.
_CONNECTION = CONNECTION | {"options": f"{CONNECTION['options']} -c synchronous_commit=off"}
LOG = structlog.get_logger()


@dataclass(frozen=True)
class JudgeTask:
    """Judge one judging."""

    judging: int


@dataclass(frozen=True)
class PrepareTask:
    """Find out about one version of a problem what only a worker can: checks, reference charts."""

    version: str


Task = JudgeTask | PrepareTask
Handler = Callable[[Task], Awaitable[None]]
Wanted = Callable[[], Awaitable[Sequence[tuple[JudgeTask, int]]]]


class GiveBack(Exception):
    """Raised by a handler: the job is to be taken again, by whoever is free, after `delay_s`."""

    def __init__(self, delay_s: float = 0.0) -> None:
        super().__init__(f"given back for {delay_s:g} s")
        self.delay_s = delay_s


@dataclass(frozen=True)
class Jobs:
    """How many jobs wait, and how many are being worked on."""

    waiting: int
    running: int


class Queue:
    """The queue of one database."""

    def __init__(self, database_url: str, database: Database) -> None:
        self._engine = database.engine
        self._pool = database.pool
        self._connector = procrastinate.PsycopgConnector(
            conninfo=plain_url(database_url),
            pool_factory=_connections,
            kwargs=_CONNECTION,
            min_size=1,
            max_size=8,
            configure=_configure,
        )
        self._app = procrastinate.App(connector=self._connector)
        self._judge = self._app.task(name=JUDGE, queue=QUEUE, retry=_Again())(self._run_judging)
        self._prepare = self._app.task(name="prepare", queue=QUEUE, retry=_Again(PREPARE_ATTEMPTS))(
            self._run_preparing
        )
        self._handle: Handler | None = None
        self._running: set[Task] = set()

    async def enqueue(self, connection: Connection, task: Task, priority: int) -> None:
        """Queue a task, in the transaction that `connection` is in."""
        match task:
            case JudgeTask(judging):
                job = self._judge.configure(connection=connection, priority=priority)
                await job.defer_async(judging=judging)
            case PrepareTask(version):
                job = self._prepare.configure(connection=connection, priority=priority)
                await job.defer_async(version=version)

    async def run(self, handle: Handler, slots: int, stop: asyncio.Event) -> None:
        """Call `handle` with one task after another, `slots` at once, until `stop` is set.

        Returns when the handlers that were running have returned. Survives the database's going
        away.
        """
        self._handle = handle
        stopped = asyncio.create_task(stop.wait())
        while not stop.is_set():
            working = asyncio.create_task(self._work(slots))
            await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                working.cancel()  # which Procrastinate takes for: finish what runs, then end
            try:
                await working
            except asyncio.CancelledError:
                break
            except DATABASE_AWAY as error:
                LOG.warning("queue lost, connecting again", error=str(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(stopped), RESTART_S)
        stopped.cancel()

    async def cancel(self, task: Task) -> None:
        """Take a task that nobody has begun out of the queue."""
        async with self._engine.begin() as connection:
            await connection.execute(_CANCEL, {"arguments": asdict(task)})

    async def rescue(self, stalled_s: float, wanted: Wanted) -> int:
        """Queue again what was lost; how many.

        That is: what workers hold whose last heartbeat is older than `stalled_s`; and of `wanted`,
        tasks with their priority, what has no job at all. `wanted` is asked after the jobs were
        looked at, so that what is finished meanwhile is not taken for lost.
        """
        async with self._engine.begin() as connection:
            late = {"stalled_s": stalled_s, "attempts": PREPARE_ATTEMPTS}
            await connection.execute(_GIVE_UP_PREPARING, late)
            stalled = await connection.execute(_QUEUE_STALLED, late)
            await connection.execute(_FORGET_WORKERS, {"silent_s": FORGOTTEN_S})
            rescued = 0
            for arguments, _ in stalled.all():
                LOG.warning("queued again, its worker is silent", **arguments)
                rescued += 1
            queued = set((await connection.execute(_QUEUED)).scalars())
            raw = await connection.get_raw_connection()
            for task, priority in await wanted():
                if task.judging not in queued:
                    LOG.warning("queued again, it had no job", judging=task.judging)
                    await self.enqueue(raw.driver_connection, task, priority)  # type: ignore[arg-type]  # ours is psycopg's
                    rescued += 1
        return rescued

    async def stats(self) -> Jobs:
        """How much there is to do."""
        async with self._pool.connection() as connection:
            counted = await (await connection.execute(_COUNT)).fetchall()
        waiting, running = counted[0]
        return Jobs(waiting, running)

    # --- inside a worker -------------------------------------------------------------------------

    async def _work(self, slots: int) -> None:
        self._running.clear()
        async with self._app.open_async():
            worker = Worker(
                app=self._app,
                queues=[QUEUE],
                concurrency=slots,
                install_signal_handlers=False,
                delete_jobs="always",
                fetch_job_polling_interval=POLL_S,
                update_heartbeat_interval=HEARTBEAT_S,
                stalled_worker_timeout=FORGOTTEN_S,
            )
            beside = [
                asyncio.create_task(self._reconcile(worker)),
                asyncio.create_task(self._stay_alive(worker)),
            ]
            try:
                await worker.run()  # type: ignore[no-untyped-call]  # theirs is not annotated
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)

    async def _run_judging(self, judging: int) -> None:
        await self._run(JudgeTask(judging))

    async def _run_preparing(self, version: str) -> None:
        await self._run(PrepareTask(version))

    async def _run(self, task: Task) -> None:
        assert self._handle is not None
        self._running.add(task)
        try:
            await self._handle(task)
        except GiveBack:
            raise
        except Exception:  # whatever it is, it will be tried again: let it not be in silence
            LOG.exception("job failed", task=task)
            raise
        finally:
            self._running.discard(task)

    async def _stay_alive(self, worker: Worker) -> None:
        """Keep the heartbeat going while what runs is ended: Procrastinate's own has stopped."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if worker.worker_id is not None:
                with contextlib.suppress(*DATABASE_AWAY):
                    await self._app.job_manager.update_heartbeat(worker.worker_id)

    async def _reconcile(self, worker: Worker) -> None:
        """Queue jobs again that have our name on them, but that we have not run for two looks."""
        suspected: set[int] = set()
        while True:
            await asyncio.sleep(2 * HEARTBEAT_S)
            with contextlib.suppress(*DATABASE_AWAY):
                held = await self._held(worker.worker_id)
                forgotten = {job for job, task in held.items() if task not in self._running}
                for job in forgotten & suspected:
                    LOG.warning("job forgotten, queued again", job=job)
                    await self._app.job_manager.retry_job_by_id_async(job, _in(0))
                suspected = forgotten - suspected

    async def _held(self, worker_id: int | None) -> dict[int, Task]:
        """What the rows say a worker is doing."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(_HELD, {"worker": worker_id})
            return {job: _task(args) for job, args in await rows.fetchall()}


class _Again(BaseRetryStrategy):
    """A job that was given back, or whose handler failed, is tried again."""

    def __init__(self, attempts: int | None = None) -> None:
        self._attempts = attempts

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """After a while; None when it was tried often enough."""
        if isinstance(exception, GiveBack):
            return RetryDecision(retry_at=_in(exception.delay_s))
        if self._attempts is not None and job.attempts + 1 >= self._attempts:
            return None
        return RetryDecision(retry_at=_in(RETRY_S))


def _in(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _task(arguments: dict[str, Any]) -> Task:
    """The task that a job's arguments stand for."""
    return PrepareTask(**arguments) if "version" in arguments else JudgeTask(**arguments)


def _connections(**options: Any) -> AsyncConnectionPool[Any]:
    """Procrastinate's connections, without the question to the server before each use."""
    return AsyncConnectionPool(**(options | {"check": _check}))


async def _configure(connection: Connection) -> None:
    """Procrastinate asks in single statements, which need no transaction around them."""
    await connection.set_autocommit(True)


async def _check(connection: Connection) -> None:
    """Ask the server only when there is reason to; raises what psycopg raises."""
    if not is_quiet(connection):
        await AsyncConnectionPool.check_connection(connection)


_CANCEL = text(
    "DELETE FROM procrastinate_jobs WHERE status = 'todo' AND args = :arguments"
).bindparams(bindparam("arguments", type_=JSONB))
_COUNT = """
    SELECT count(*) FILTER (WHERE status = 'todo'), count(*) FILTER (WHERE status = 'doing')
    FROM procrastinate_jobs
"""
_HELD = "SELECT id, args FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker)s"
_STALLED = """
    FROM procrastinate_jobs AS job
    LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND (
        worker.id IS NULL OR worker.last_heartbeat < now() - make_interval(secs => :stalled_s)
    )
"""
_QUEUE_STALLED = text(
    f"SELECT job.args, procrastinate_retry_job_v2(job.id, now(), NULL, NULL, NULL) {_STALLED}"
)
# Attempts at a judging are counted by the store; at preparing, which nobody waits for, here.
_GIVE_UP_PREPARING = text(
    "DELETE FROM procrastinate_jobs WHERE id IN ("  # noqa: S608 - no value is put into the text
    f"SELECT job.id {_STALLED} AND job.args ? 'version' AND job.attempts + 1 >= :attempts)"
)
_FORGET_WORKERS = text("SELECT procrastinate_prune_stalled_workers_v1(:silent_s)")
_QUEUED = text("""
    SELECT CAST(args ->> 'judging' AS bigint) FROM procrastinate_jobs
    WHERE status IN ('todo', 'doing') AND args ? 'judging'
""")
