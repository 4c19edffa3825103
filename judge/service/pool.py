"""Plain connections to PostgreSQL, for the statements that every submission needs.

SQLAlchemy's way to a connection and back costs more than such a statement itself. Here a connection
is taken, used and laid back; it is in autocommit, so a statement is a transaction.

Nobody is given a connection that the server has closed meanwhile. A connection that rests has
nothing to read: whatever there is means that it has ended, or that it is simpler to have another.
Looking costs no round trip. Connecting is never retried here: who asks is told at once. (psycopg's
own pool keeps who asks waiting while it connects in the background, and cannot be used again once
it has been closed.)
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import TupleRow

Connection = psycopg.AsyncConnection[TupleRow]


class Pool:
    """At most `size` connections at once; who waits `patience_s` for one is told that none is free.

    `options` are psycopg's.
    """

    def __init__(
        self, address: str, options: Mapping[str, Any], *, size: int, patience_s: float
    ) -> None:
        self._address = address
        self._options = {**options, "autocommit": True}
        self._patience_s = patience_s
        self._free = asyncio.Semaphore(size)
        self._resting: list[Connection] = []

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection for one transaction. Raises `psycopg.OperationalError`."""
        await self._wait_for_room()
        try:
            connection = await self._rested() or await self._new()
            try:
                yield connection
            finally:
                await self._lay_back(connection)
        finally:
            self._free.release()

    async def close(self) -> None:
        """Close what rests. The pool can be used again."""
        while self._resting:
            await self._resting.pop().close()

    async def _wait_for_room(self) -> None:
        if not self._free.locked():  # as nearly always: then there is nothing to time
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._free.acquire()
        except TimeoutError:
            raise psycopg.OperationalError("no connection became free in time") from None

    async def _new(self) -> Connection:
        return await psycopg.AsyncConnection.connect(self._address, **self._options)

    async def _rested(self) -> Connection | None:
        """The connection that was used last, of those that are still open."""
        while self._resting:
            connection = self._resting.pop()
            if is_quiet(connection):
                return connection
            await connection.close()
        return None

    async def _lay_back(self, connection: Connection) -> None:
        """Keep it, unless it is broken or in the middle of something (its user was cancelled)."""
        inner = connection.pgconn
        in_pipeline = inner.pipeline_status != PipelineStatus.OFF
        if inner.transaction_status == TransactionStatus.IDLE and not in_pipeline:
            self._resting.append(connection)
        else:
            await connection.close()


def is_quiet(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Whether an idle connection is still open, as far as can be seen without asking the server."""
    if connection.closed:
        return False
    looking = select.poll()
    looking.register(connection.fileno(), select.POLLIN)
    return not looking.poll(0)
