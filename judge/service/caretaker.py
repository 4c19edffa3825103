"""What keeps promises when somebody else has died: looks every two seconds, in one process at once.

Every `judge serve` and `judge work` has one; a lock in the database lets one of them act. It queues
what silent workers held and what has no job, and forgets what is old.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from judge.service.database import DATABASE_AWAY
from judge.service.queue import Queue
from judge.service.store import WORKER_ALIVE_S, Store

EVERY_S = 2.0
ROW_WITHOUT_JOB_S = 5.0  # older than any transaction that makes both
EXPIRE_EVERY_S = 300.0
RUNS_KEPT_S = 3600.0
EVENTS_KEPT_S = 24 * 3600.0
LOCK = 0x6361726572  # any number, the same in every process
LOG = structlog.get_logger()


class Caretaker:
    """Looks after one database."""

    def __init__(self, engine: AsyncEngine, store: Store, queue: Queue) -> None:
        self._engine = engine
        self._store = store
        self._queue = queue
        self._expired_at = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Look until `stop` is set. A database that is away is asked again."""
        while not stop.is_set():
            try:
                await self._look()
            except DATABASE_AWAY as error:
                LOG.warning("caretaker interrupted", error=str(error).partition("\n")[0])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), EVERY_S)

    async def _look(self) -> None:
        async with self._engine.begin() as connection:
            if await connection.scalar(_LOCK, {"key": LOCK}):
                await self._care()

    async def _care(self) -> None:
        wanted = partial(self._store.unfinished, ROW_WITHOUT_JOB_S)
        await self._queue.rescue(WORKER_ALIVE_S, wanted)
        now = asyncio.get_running_loop().time()
        if now - self._expired_at > EXPIRE_EVERY_S:
            self._expired_at = now
            await self._store.expire(RUNS_KEPT_S, EVENTS_KEPT_S)


_LOCK = text("SELECT pg_try_advisory_xact_lock(:key)")
