"""The events of one attempt, on their way from the judge to the store.

One write at a time, and each takes what has gathered meanwhile: the first event goes out at once,
and a slow database makes writes larger, not later. `Finished` is held back, since it belongs into
the transaction that stores the verdict.

A write that failed may have happened all the same. What follows it therefore begins anew:
`Restarted`, and all events so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from judge.events import Event, Finished, Restarted, Started, StreamEvent
from judge.service.records import Claim
from judge.service.store import Store

RETRY_S = 0.5
# What a database that is away, starting, or out of disk raises.
DATABASE_AWAY = (OperationalError, InterfaceError, PoolTimeoutError, OSError)


class Outbox:
    """See above. Used in the event loop only."""

    def __init__(self, store: Store, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._events: list[Event] = []
        self._written = 0
        self._unsure = False
        self._lost = False
        self._closing = False
        self._news = asyncio.Event()

    @property
    def events(self) -> list[Event]:
        """All of the attempt."""
        return self._events

    @property
    def begun(self) -> bool:
        """Whether the store may have anything of it."""
        return self._written > 0 or self._unsure

    def put(self, event: Event) -> None:
        """Take the next event; harmless once nobody writes any more."""
        if not self._closing:
            self._events.append(event)
            self._news.set()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write in the background meanwhile. What is left then is for `flush`."""
        writing = asyncio.create_task(self._write())
        try:
            yield
        finally:
            self._closing = True
            self._news.set()
            await writing

    async def flush(self) -> None:
        """Write what is left, unless the lease is lost. Raises what `DATABASE_AWAY` names."""
        unwritten = [
            event for event in self._events[self._written :] if not isinstance(event, Finished)
        ]
        if self._lost or not (unwritten or self._unsure):
            return
        told: list[StreamEvent] = [*unwritten]
        if self._unsure:
            told = [Restarted(), Started(), *self._events[: self._written], *unwritten]
        self._unsure = True
        self._lost = not await self._store.append(self._claim, told)
        self._unsure = False
        self._written += len(unwritten)

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._closing:
                return
            try:
                await self.flush()
            except DATABASE_AWAY:
                await asyncio.sleep(RETRY_S)
                self._news.set()
