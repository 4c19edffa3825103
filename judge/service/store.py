"""Everything that is kept, and the only module that asks the database about it.

What makes verdicts safe, in two rules. The attempt that claimed last holds the lease, and only it
may write events. A verdict is stored by whoever has a complete one first, lease or not, and never
changed; an attempt that comes late is told so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
import psycopg
from psycopg.rows import dict_row
from pydantic import JsonValue
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from judge.events import Restarted, Started, StreamEvent
from judge.grader.messages import CheckCard
from judge.own_tests import is_lasting
from judge.problem import Problem
from judge.results import Chart, Environment, Result
from judge.service import queries
from judge.service.database import Database
from judge.service.grades import grade_key
from judge.service.pool import Connection
from judge.service.queue import JudgeTask, PrepareTask, Queue
from judge.service.records import (
    Accepted,
    Bounds,
    Claim,
    Facts,
    HourlyQuota,
    KeyReused,
    NewSubmission,
    QueueFull,
    QueueStats,
    Refused,
    Standing,
    StillJudging,
    StoredEvent,
    StoredJudging,
    StoredSubmission,
    StudentLimit,
    Tally,
    TestsState,
    Tried,
    UnknownRow,
    WorkerRow,
)
from judge.service.tables import (
    JUDGINGS,
    PROBLEM_VERSIONS,
    SOURCES,
    SUBMISSIONS,
    TALLIES,
    WORKERS,
)
from judge.verdicts import Verdict

PREPARE_PRIORITY = 40_000
FIRST_PRIORITY = 30_000
REJUDGE_PRIORITY = 9_999
RANKS = 9_999  # of a student's unfinished submissions; later ones share the last
BUCKETS_MS = (50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, math.inf)
CHANNEL = "judge_events"
PAGE = 500  # events read at once
BUSY_RETRY_S = 5
TESTS_STATES: dict[bool | None, TestsState] = {None: "untouched", False: "failed", True: "passed"}
WORKER_ALIVE_S = 8.0


# --- the store ------------------------------------------------------------------------------------


class Store:
    """The database of one service. What a method writes, it writes in one transaction."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._pool = database.pool
        self._engine = database.engine
        self._single = self._engine.execution_options(isolation_level="AUTOCOMMIT")  # one statement
        self._queue = queue

    # --- submissions, for the API ----------------------------------------------------------------

    async def accept(self, new: NewSubmission, bounds: Bounds) -> Accepted:
        """Keep a submission and queue it. Raises `Refused`, `KeyReused`."""
        async with self._pool.connection() as connection:
            try:
                return await _accept(connection, new, bounds)
            except psycopg.errors.UniqueViolation:
                # The same key came twice at once, and the other was faster.
                earlier = _replayed(new, await _one(connection, queries.REPLAY, _key(new)))
                if earlier is None:
                    raise
                return earlier

    async def submission(self, submission_id: str) -> StoredSubmission | None:
        """A submission with its newest judging; None when there is none."""
        row = await self._one(queries.SUBMISSION, {"submission": submission_id})
        return None if row is None else _stored_submission(row)

    async def history(
        self, student: str, problem: str | None, before: str | None, limit: int
    ) -> list[StoredSubmission]:
        """What a student submitted, newest first; of one problem, and before another submission.

        Runs are not part of anybody's history. The results themselves are left out.
        """
        query = (
            queries.SUBMISSIONS_BRIEFLY.where(
                SUBMISSIONS.c.student == student, SUBMISSIONS.c.kind != "run"
            )
            .order_by(SUBMISSIONS.c.created_at.desc(), SUBMISSIONS.c.id.desc())
            .limit(limit)
        )
        if problem is not None:
            query = query.where(SUBMISSIONS.c.problem == problem)
        if before is not None:
            edge = SUBMISSIONS.alias("edge")
            position = select(edge.c.created_at, edge.c.id).where(
                edge.c.id == before, edge.c.student == student
            )
            query = query.where(
                text("(submissions.created_at, submissions.id) < (:edge_at, :edge_id)")
            )
            async with self._single.connect() as connection:
                found = (await connection.execute(position)).one_or_none()
            if found is None:
                return []
            query = query.params(edge_at=found[0], edge_id=found[1])
        async with self._single.connect() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [_stored_submission(row) for row in rows]

    async def judgings(self, submission_id: str) -> list[StoredJudging]:
        """All passes over a submission, oldest first."""
        query = (
            select(JUDGINGS)
            .where(JUDGINGS.c.submission_id == submission_id)
            .order_by(JUDGINGS.c.number)
        )
        async with self._single.connect() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [_stored_judging(row) for row in rows]

    async def sources(self, submission_id: str) -> dict[str, bytes]:
        """The files of a submission."""
        query = (
            select(SOURCES.c.name, SOURCES.c.content)
            .where(SOURCES.c.submission_id == submission_id)
            .order_by(SOURCES.c.name)
        )
        async with self._single.connect() as connection:
            rows = (await connection.execute(query)).all()
        return {row.name: bytes(row.content) for row in rows}

    async def rejudge(self, submission_id: str, version: str, bounds: Bounds) -> int:
        """Judge a submission again, with the same seed; the number of the judging.

        Raises `Refused`, `StillJudging`, `UnknownRow`.
        """
        which = {"submission": submission_id}
        async with self._pool.connection() as connection, connection.transaction():
            locked = await _one(connection, queries.LOCK_SUBMISSION, which)
            if locked is None:
                raise UnknownRow(f"there is no submission {submission_id}")
            newest = await _one(connection, queries.NEWEST, which)
            assert newest is not None
            if newest["state"] != "finished":
                raise StillJudging("it is being judged")
            await connection.execute(queries.ONE_AT_A_TIME, {"student": locked["student"]})
            load = await (await _ask_for_room(connection, locked["student"], bounds)).read()
            if refusal := load.refusal(bounds):
                raise refusal
            judging = _NewJudging(
                submission=submission_id,
                number=newest["number"] + 1,
                version=version,
                seed=newest["seed"],
                priority=REJUDGE_PRIORITY - min(load.mine, RANKS),
                accepted_ms=0.0,
            )
            made = await _one(connection, queries.QUEUE, asdict(judging))
            assert made is not None
            number: int = made["id"]
        return number

    async def events_after(self, judging: int, after: int, limit: int = PAGE) -> list[StoredEvent]:
        """The next events of a judging, oldest first; at most `limit`."""
        values = {"judging": judging, "after": after, "limit": limit}
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(queries.EVENTS_AFTER, values)).fetchall()
        return [StoredEvent(*row) for row in rows]

    async def ahead(self, judging: int) -> int:
        """How many that wait are judged before this one."""
        async with self._single.connect() as connection:
            return await connection.scalar(queries.AHEAD, {"judging": judging}) or 0

    # --- progress --------------------------------------------------------------------------------

    async def standings(self, student: str, problem: str = "") -> dict[str, Standing]:
        """How far a student has come with each exercise they tried, or with one."""
        values = {"student": student, "problem": problem}
        async with self._single.connect() as connection:
            rows = (await connection.execute(queries.PROGRESS, values)).all()
        return {
            row.problem: Standing(
                accepted=bool(row.accepted),
                tests=TESTS_STATES[row.tests_passed],
                failed_tier=row.failed_tier,
                submissions=row.submissions,
                last_at=row.last_at,
            )
            for row in rows
        }

    async def accepted_sources(self, student: str, problem: str) -> dict[str, bytes]:
        """The files of a student's newest accepted submission; empty when there is none."""
        values = {"student": student, "problem": problem}
        async with self._single.connect() as connection:
            rows = (await connection.execute(queries.ACCEPTED_SOURCES, values)).all()
        return {row.name: bytes(row.content) for row in rows}

    async def pass_rates(self, enough: int) -> dict[str, Tried]:
        """How many tried and solved each exercise that at least so many students have tried."""
        async with self._single.connect() as connection:
            rows = (await connection.execute(queries.PASS_RATES, {"enough": enough})).all()
        return {row.problem: Tried(row.tried, row.accepted, row.with_tests) for row in rows}

    # --- problems --------------------------------------------------------------------------------

    async def publish(self, problems: Iterable[Problem]) -> None:
        """Keep these versions; those without facts are prepared by a worker."""
        async with self._engine.begin() as connection:
            for problem in problems:
                await connection.execute(
                    upsert(PROBLEM_VERSIONS)
                    .values(
                        version=problem.version,
                        slug=problem.slug,
                        contents=msgspec.msgpack.encode(dict(problem.contents)),
                    )
                    .on_conflict_do_nothing()
                )
                known = select(PROBLEM_VERSIONS.c.facts.is_not(None)).where(
                    PROBLEM_VERSIONS.c.version == problem.version
                )
                if not await connection.scalar(known):
                    raw = await connection.get_raw_connection()
                    task = PrepareTask(problem.version)
                    await self._queue.enqueue(raw.driver_connection, task, PREPARE_PRIORITY)  # type: ignore[arg-type]  # ours is psycopg's

    async def contents(self, version: str) -> tuple[str, dict[str, bytes]]:
        """Slug and files of a problem version. Raises `UnknownRow`."""
        query = select(PROBLEM_VERSIONS.c.slug, PROBLEM_VERSIONS.c.contents).where(
            PROBLEM_VERSIONS.c.version == version
        )
        async with self._single.connect() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise UnknownRow(f"there is no problem version {version}")
        return row.slug, msgspec.msgpack.decode(row.contents, type=dict[str, bytes])

    async def prepared(self, version: str, facts: Facts) -> None:
        """Keep what was found out about a problem version."""
        query = (
            update(PROBLEM_VERSIONS)
            .where(PROBLEM_VERSIONS.c.version == version)
            .values(facts=_facts_out(facts))
        )
        async with self._engine.begin() as connection:
            await connection.execute(query)

    async def facts(self, versions: Iterable[str]) -> dict[str, Facts]:
        """What is known of these versions; those that are not prepared yet are left out."""
        query = select(PROBLEM_VERSIONS.c.version, PROBLEM_VERSIONS.c.facts).where(
            PROBLEM_VERSIONS.c.version.in_(list(versions)), PROBLEM_VERSIONS.c.facts.is_not(None)
        )
        async with self._single.connect() as connection:
            rows = (await connection.execute(query)).all()
        return {row.version: _facts_in(row.facts) for row in rows}

    # --- judging, for workers --------------------------------------------------------------------

    async def claim(self, judging: int, worker: str) -> Claim | None:
        """Take a judging for another attempt; None when it is finished, or gone.

        Everything an earlier attempt wrote is void from here on. The caller ends a claim that is
        `exhausted` as JE.
        """
        values = {
            "judging": judging,
            "worker": worker,
            "restarted": Restarted().model_dump_json(),
            "started": Started().model_dump_json(),
            "channel": CHANNEL,
        }
        row = await self._one(queries.CLAIM, values)
        if row is None:
            return None
        return Claim(
            judging=judging,
            submission=row["submission_id"],
            number=row["number"],
            lease=row["attempts"],
            worker=worker,
            kind=row["kind"],
            problem=row["problem"],
            version=row["problem_version"],
            seed=row["seed"],
            files=dict(zip(row["names"], row["contents"], strict=True)),
            accepted_ms=round(row["accepted_ms"], 3),
            queued_ms=round(row["queued_ms"], 3),
        )

    async def graded(self, claim: Claim, environment: Environment) -> Result | None:
        """The grade that the same tests were given there, as it was stored; None when none is."""
        key = grade_key(claim.files, claim.version, environment)
        if key is None:
            return None
        async with self._single.connect() as connection:
            found = await connection.scalar(queries.GRADED, {"grade_key": key})
        return None if found is None else Result.model_validate(found)

    async def append(self, claim: Claim, events: Sequence[StreamEvent]) -> bool:
        """Write the next events of an attempt; False when it has lost its lease."""
        values = {
            "judging": claim.judging,
            "lease": claim.lease,
            "worker": claim.worker,
            "events": _as_json(events),
            "channel": CHANNEL,
        }
        return await self._one(queries.APPEND, values) is not None

    async def finish(
        self,
        claim: Claim,
        result: Result,
        rest: Sequence[StreamEvent],
        events: Sequence[StreamEvent],
    ) -> bool:
        """Store the verdict; False when there is one already.

        `events` are all of the attempt, `Finished` last; `rest` are those at its end that were not
        written yet, or what else makes the stream complete.
        """
        values = {
            "judging": claim.judging,
            "lease": claim.lease,
            "worker": claim.worker,
            "kind": claim.kind,
            "verdict": result.outcome.value,
            "score": result.score,
            "sandbox": result.environment.sandbox,
            "image": result.environment.image,
            "result": result.model_dump_json(),
            "failed_tier": result.failed_tier,
            "judged_ms": result.timing.judged_ms,
            "grade_key": _grade_key(claim, result),
            "bounds": list(BUCKETS_MS),
            "channel": CHANNEL,
        }
        mine = {"by_anybody": False, "events": _as_json(rest)}
        if await self._one(queries.FINISH, values | mine) is not None:
            return True
        # It is finished, or somebody else has the lease and wrote events: then all of ours follow.
        whole = {"by_anybody": True, "events": _as_json([Restarted(), Started(), *events])}
        return await self._one(queries.FINISH, values | whole) is not None

    async def give_back(self, claim: Claim, *, counted: bool) -> None:
        """Let somebody else judge it; `counted` False forgets this attempt."""
        async with self._engine.begin() as connection:
            await connection.execute(
                update(JUDGINGS)
                .where(
                    JUDGINGS.c.id == claim.judging,
                    JUDGINGS.c.state == "judging",
                    JUDGINGS.c.attempts == claim.lease,
                    JUDGINGS.c.worker == claim.worker,
                )
                .values(state="queued", attempts=claim.lease if counted else claim.lease - 1)
            )

    # --- looking after things --------------------------------------------------------------------

    async def unfinished(self, older_than_s: float) -> list[tuple[JudgeTask, int]]:
        """Judgings that are not finished, with their priorities; each should have a job."""
        query = select(JUDGINGS.c.id, JUDGINGS.c.priority).where(
            JUDGINGS.c.state != "finished",
            JUDGINGS.c.created_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, older_than_s),
        )
        async with self._single.connect() as connection:
            rows = (await connection.execute(query)).all()
        return [(JudgeTask(row.id), row.priority) for row in rows]

    async def expire(self, runs_after_s: float, events_after_s: float) -> None:
        """Forget old runs, the events of what is long finished, and workers that are gone."""
        ages = {"runs_s": runs_after_s, "events_s": events_after_s, "worker_s": 60 * WORKER_ALIVE_S}
        async with self._engine.begin() as connection:
            await connection.execute(queries.EXPIRE_RUNS, ages)
            await connection.execute(queries.EXPIRE_EVENTS, ages)
            await connection.execute(queries.EXPIRE_WORKERS, ages)

    async def beat(self, worker: WorkerRow) -> None:
        """A worker says how it is."""
        values = {
            "id": worker.id,
            "host": worker.host,
            "pid": worker.pid,
            "sandbox": worker.sandbox,
            "slots": worker.slots,
            "state": worker.state,
            "why": worker.why,
            "boxes": dict(worker.boxes),
        }
        query = upsert(WORKERS).values(**values)
        query = query.on_conflict_do_update(
            index_elements=[WORKERS.c.id], set_={**values, "seen_at": func.now()}
        )
        async with self._single.connect() as connection:
            await connection.execute(query)

    async def leave(self, worker_id: str) -> None:
        """A worker is gone."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(WORKERS).where(WORKERS.c.id == worker_id))

    async def workers(self) -> list[WorkerRow]:
        """The workers that are alive, as far as they reported."""
        async with self._single.connect() as connection:
            rows = (
                await connection.execute(queries.WORKERS_ALIVE, {"alive_s": WORKER_ALIVE_S})
            ).mappings()
            return [WorkerRow(**row) for row in rows]

    async def stats(self) -> QueueStats:
        """What waits and what is being judged."""
        async with self._single.connect() as connection:
            rows = (await connection.execute(queries.STATS)).all()
        return QueueStats(
            waiting={row.kind: row.waiting for row in rows},
            running=sum(row.running for row in rows),
            oldest_s=max((row.oldest_s for row in rows), default=0.0),
        )

    async def tallies(self) -> list[Tally]:
        """Every verdict that was ever given, counted."""
        async with self._single.connect() as connection:
            rows = (await connection.execute(select(TALLIES))).mappings()
            return [Tally(**row) for row in rows]

    async def ping(self) -> None:
        """Raise what the database raises when it is away."""
        async with self._single.connect() as connection:
            await connection.execute(select(1))

    async def _one(self, query: str, values: Mapping[str, object]) -> dict[str, Any] | None:
        """The row of a statement that is a transaction; None when it has none."""
        async with self._pool.connection() as connection:
            return await _one(connection, query, values)


@dataclass(frozen=True)
class _NewJudging:
    """The values of `queries.QUEUE`."""

    submission: str
    number: int
    version: str
    seed: int
    priority: int
    accepted_ms: float


# --- parts of transactions ------------------------------------------------------------------------


async def _one(
    connection: Connection, query: str, values: Mapping[str, object]
) -> dict[str, Any] | None:
    cursor = connection.cursor(row_factory=dict_row)
    return await (await cursor.execute(query, values)).fetchone()


async def _accept(connection: Connection, new: NewSubmission, bounds: Bounds) -> Accepted:
    """Keep and queue it, or say why not. Raises `Refused`, `KeyReused`.

    What is asked goes out together, and so does what is written. What is to be raised is raised
    after the pipeline, which would turn it into an error of its own.
    """
    refusal: Refused | None = None
    async with connection.pipeline(), connection.transaction():
        await connection.execute(queries.ONE_AT_A_TIME, {"student": new.student})
        replay = connection.cursor(row_factory=dict_row)
        if new.idempotency_key is not None:
            await replay.execute(queries.REPLAY, _key(new))
        asked = await _ask_for_room(connection, new.student, bounds)
        earlier = await replay.fetchone() if new.idempotency_key is not None else None
        load = await asked.read()
        if earlier is None:
            refusal = load.refusal(bounds)
            if refusal is None:
                await _write(connection, new, load)
    if refusal is not None:
        raise refusal
    return _replayed(new, earlier) or Accepted(new.id, replayed=False)


async def _write(connection: Connection, new: NewSubmission, load: _Load) -> None:
    submission = {
        "id": new.id,
        "student": new.student,
        "open": new.open,
        "kind": new.kind,
        "problem": new.problem,
        "idempotency_key": new.idempotency_key,
        "request_hash": new.request_hash,
        "names": list(new.files),
        "contents": list(new.files.values()),
    }
    judging = _NewJudging(
        submission=new.id,
        number=1,
        version=new.version,
        seed=new.seed,
        priority=_priority(new.kind, load.mine),
        accepted_ms=(time.monotonic() - new.received_s) * 1000,
    )
    await connection.execute(queries.ACCEPT, submission)
    await connection.execute(queries.QUEUE, asdict(judging))


def _key(new: NewSubmission) -> dict[str, str | None]:
    """The values of `queries.REPLAY`."""
    return {"student": new.student, "idempotency_key": new.idempotency_key}


def _replayed(new: NewSubmission, earlier: Mapping[str, Any] | None) -> Accepted | None:
    """What was accepted under the same key, if anything was. Raises `KeyReused`."""
    if earlier is None:
        return None
    if earlier["request_hash"] != new.request_hash:
        raise KeyReused("this Idempotency-Key came with another submission before; use a new one")
    return Accepted(earlier["id"], replayed=True)


def _priority(kind: str, unfinished: int) -> int:
    """Whom a student's next submission goes before: those of students with more unfinished.

    Among equals a run goes first. A rejudge comes after all of them.
    """
    return FIRST_PRIORITY - 2 * min(unfinished, RANKS) + (kind == "run")


@dataclass(frozen=True)
class _Load:
    """How many submissions are not finished, in all and of one student.

    `wait_s` is how long the student has to wait who has had enough for an hour.
    """

    everybody: int
    mine: int
    wait_s: int | None

    def refusal(self, bounds: Bounds) -> Refused | None:
        """Why there is no room for one more, if there is none."""
        if self.everybody >= bounds.queue_limit:
            return QueueFull(
                f"{self.everybody} submissions are waiting, as many as may. Try again in a moment.",
                BUSY_RETRY_S,
            )
        if self.mine >= bounds.student_limit:
            return StudentLimit(
                f"{self.mine} of your submissions are waiting, as many as may. Let them finish "
                "first.",
                BUSY_RETRY_S,
            )
        if self.wait_s is not None:
            return HourlyQuota(
                f"You have made {bounds.hourly_quota} submissions in the last hour, as many as "
                f"may be made. The next is possible in {self.wait_s} s.",
                self.wait_s,
            )
        return None


@dataclass(frozen=True)
class _Asked:
    """Questions whose answers are on their way."""

    load: psycopg.AsyncCursor[tuple[int, int]]
    hour: psycopg.AsyncCursor[tuple[float]] | None

    async def read(self) -> _Load:
        load = await self.load.fetchone()
        hour = await self.hour.fetchone() if self.hour is not None else None
        assert load is not None
        return _Load(*load, None if hour is None else math.ceil(hour[0]))


async def _ask_for_room(connection: Connection, student: str, bounds: Bounds) -> _Asked:
    """Ask how much waits. In a pipeline the answers are waited for where they are read."""
    load = await connection.execute(queries.LOAD, {"student": student})
    if not bounds.hourly_quota:
        return _Asked(load, None)
    values = {"student": student, "quota": bounds.hourly_quota}
    return _Asked(load, await connection.execute(queries.HOUR, values))


def _grade_key(claim: Claim, result: Result) -> bytes | None:
    """Under what others may find this result."""
    if claim.kind != "tests" or not is_lasting(result.outcome):
        return None
    return grade_key(claim.files, claim.version, result.environment)


def _as_json(events: Sequence[StreamEvent]) -> str:
    """The events as a JSON array. What is stored of each is what every reader is sent."""
    return f"[{','.join(event.model_dump_json() for event in events)}]"


# --- rows and what they stand for -----------------------------------------------------------------


def _stored_submission(row: Mapping[Any, Any]) -> StoredSubmission:
    return StoredSubmission(
        id=row["submission_id"],
        student=row["student"],
        open=row["open"],
        kind=row["kind"],
        problem=row["problem"],
        created_at=row["submitted_at"],
        judging=_stored_judging(row),
    )


def _stored_judging(row: Mapping[Any, Any]) -> StoredJudging:
    result = row.get("result")
    return StoredJudging(
        id=row["id"],
        number=row["number"],
        state=row["state"],
        problem_version=row["problem_version"],
        seed=row["seed"],
        attempts=row["attempts"],
        worker=row["worker"],
        created_at=row["created_at"],
        claimed_at=row["claimed_at"],
        finished_at=row["finished_at"],
        verdict=Verdict(row["verdict"]) if row["verdict"] else None,
        score=row["score"],
        failed_tier=row["failed_tier"],
        judged_ms=row["judged_ms"],
        result=None if result is None else _timed(Result.model_validate(result), row),
    )


def _timed(result: Result, row: Mapping[Any, Any]) -> Result:
    """The result with one more span: what it took, beside judging, from the claim to the store."""
    taken_ms = (row["finished_at"] - row["claimed_at"]).total_seconds() * 1000
    stored_ms = round(max(0.0, taken_ms - result.timing.judged_ms), 3)
    spans = result.timing.spans | {"stored": stored_ms}
    timing = result.timing.model_copy(update={"spans": spans})
    return result.model_copy(update={"timing": timing})


def _facts_out(facts: Facts) -> dict[str, JsonValue]:
    return {
        "checks": msgspec.to_builtins(list(facts.checks)),
        "charts": [chart.model_dump(mode="json") for chart in facts.charts],
        "broken": facts.broken,
    }


def _facts_in(data: dict[str, Any]) -> Facts:
    return Facts(
        checks=msgspec.convert(data["checks"], list[CheckCard]),
        charts=[Chart.model_validate(chart) for chart in data["charts"]],
        broken=data["broken"],
    )
