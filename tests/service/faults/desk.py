"""Where a test of faults hands submissions in, and sees what becomes of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import LiteralString, Self, TypeVar

import psycopg
from psycopg.rows import TupleRow

from judge.events import Finished, StreamEvent
from judge.problem import Problem
from judge.service.database import connect, plain_url
from judge.service.queue import Queue
from judge.service.records import StoredJudging
from judge.service.store import Store
from judge.verdicts import Verdict
from tests.service.made import ROOMY, new

T = TypeVar("T")

RESCUED_S = 15.0  # a verdict comes this long after a worker was killed, and its own run time
PATIENCE_S = 60.0  # no row is stuck for longer
SLEEPING_S = 1.5
RUN_S = 3 * SLEEPING_S  # two calls, and the rest
RIGHT = b"def double(x):\n    return x + x\n"
WRONG = b"def double(x):\n    return 3 * x\n"
SLOW = f"import time\n\ndef double(x):\n    time.sleep({SLEEPING_S})\n    return x + x\n".encode()


class Desk:
    """The store of one database, for a test that is no coroutine."""

    def __init__(self, database_url: str, problem: Problem) -> None:
        self.url = database_url
        self.problem = problem
        self._runner = asyncio.Runner()
        self._database = connect(database_url)
        self.queue = Queue(database_url, self._database)
        self.store = Store(self._database, self.queue)

    def __enter__(self) -> Self:
        self.run(self.store.publish([self.problem]))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._database.dispose())
        self._runner.close()

    def run(self, work: Coroutine[None, None, T]) -> T:
        return self._runner.run(work)

    def submit(self, source: bytes) -> str:
        submission = replace(new(self.problem), files={"solution.py": source})
        self.run(self.store.accept(submission, ROOMY))
        return submission.id

    def judging(self, submission: str) -> StoredJudging:
        stored = self.run(self.store.submission(submission))
        assert stored is not None
        return stored.judging

    def events(self, submission: str) -> list[StreamEvent]:
        judging = self.judging(submission).id
        return [each.event for each in self.run(self.store.events_after(judging, 0))]

    def settle(self) -> None:
        """Forget connections to a server that has gone, and wait until it answers."""
        self.run(self._database.dispose())
        self.run(self.store.ping())

    # --- waiting -----------------------------------------------------------------------------

    def wait_for_claim(self, submission: str) -> StoredJudging:
        return self._wait(submission, lambda: self.judging(submission).state == "judging")

    def wait_for_attempt(
        self, submission: str, number: int, patience_s: float = PATIENCE_S
    ) -> StoredJudging:
        return self._wait(
            submission, lambda: self.judging(submission).attempts == number, patience_s
        )

    def wait_for_check(self, submission: str) -> StoredJudging:
        """Until it is in the middle of being judged."""
        return self._wait(
            submission,
            lambda: any(event.type == "check_finished" for event in self.events(submission)),
        )

    def wait_for_verdict(self, submission: str, patience_s: float = PATIENCE_S) -> StoredJudging:
        return self._wait(
            submission, lambda: self.judging(submission).state == "finished", patience_s
        )

    def wait_until_idle(self) -> None:
        wait_until(lambda: self.query("SELECT count(*) FROM procrastinate_jobs") == [(0,)])

    def wait_for_acknowledgement(self, judging: int) -> None:
        """Until its job is done."""
        left: LiteralString = (
            "SELECT count(*) FROM procrastinate_jobs WHERE args ->> 'judging' = %s"
        )
        wait_until(lambda: self.query(left, str(judging)) == [(0,)])

    def wait_for_lock(self, table: str, waiters: int = 1) -> None:
        """Until somebody waits for a row of the table, or so many do."""
        blocked: LiteralString = (
            "SELECT count(*) >= %s FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database() AND query ILIKE %s"
        )
        wait_until(lambda: self.query(blocked, waiters, f"%{table}%") == [(True,)])

    def _wait(
        self, submission: str, holds: Callable[[], bool], patience_s: float = PATIENCE_S
    ) -> StoredJudging:
        wait_until(holds, patience_s)
        return self.judging(submission)

    # --- the database itself -----------------------------------------------------------------

    def query(self, statement: LiteralString, *values: object) -> list[TupleRow]:
        with psycopg.connect(plain_url(self.url), autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def locked(self, statement: LiteralString, *values: object) -> Iterator[None]:
        """Hold the locks of a statement; they go with the database, too."""
        connection = psycopg.connect(plain_url(self.url))
        try:
            connection.execute(statement, values)
            yield
        finally:
            connection.close()

    def holding_the_commit(self, judging: int) -> AbstractContextManager[None]:
        """Hold a worker where it is about to store the verdict; events go through."""
        return self.locked("SELECT FROM judgings WHERE id = %s FOR SHARE", judging)

    def holding_the_acknowledgement(self, judging: int) -> AbstractContextManager[None]:
        """Hold a worker where it has stored the verdict, and its job is about to be deleted."""
        return self.locked(
            "SELECT FROM procrastinate_jobs WHERE args ->> 'judging' = %s FOR UPDATE", str(judging)
        )

    def drop_what_waits(self) -> None:
        """Let nothing come of statements that wait for a lock, once those who sent them are dead.

        As if they had been killed a moment before: the database would still carry out what it has.
        """
        self.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )

    # --- what is promised --------------------------------------------------------------------

    def require(self, submission: str, verdict: Verdict = Verdict.AC) -> None:
        """There is this verdict, and it was given once."""
        judging = self.judging(submission)
        assert (judging.state, judging.verdict) == ("finished", verdict)
        given = [event for event in self.events(submission) if isinstance(event, Finished)]
        assert [event.verdict for event in given] == [verdict]
        assert judging.result is not None
        assert judging.result.id == submission


def wait_until(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {patience_s:g} s"
        time.sleep(0.02)
