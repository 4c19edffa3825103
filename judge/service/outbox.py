"""The events of one attempt, on their way from the judge to the store.

One write at a time, and each takes what has gathered meanwhile. The end of a tier goes out at once,
other events within a moment, and no two writes in one moment: all that a write sets going, up to
the page, takes processors from the checks themselves. `Finished` is held back, since it belongs
into the transaction that stores the verdict, and takes along what was not written by then.

A write that failed may have happened all the same. What follows it therefore begins anew:
`Restarted`, and all events so far.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.events import Event, Finished, Restarted, Started, StreamEvent, TierFinished
from judge.service.database import DATABASE_AWAY
from judge.service.records import Claim
from judge.service.store import Store

GATHER_S = 0.1  # no eye sees more of ten pictures a second
RETRY_S = 0.5


class Outbox:
    """See above. Made and used in the event loop, but for `put`."""

    def __init__(self, store: Store, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._loop = asyncio.get_running_loop()
        self._events: list[Event] = []
        self._woken = False
        self._written = 0
        self._unsure = False
        self._lost = False
        self._wrote_at = 0.0
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def events(self) -> list[Event]:
        """All of the attempt."""
        return self._events

    @property
    def begun(self) -> bool:
        """Whether the store may have anything of it."""
        return self._written > 0 or self._unsure

    def put(self, event: Event) -> None:
        """Take the next event, in any thread; harmless once nobody writes any more.

        The loop is woken only for what it is to do something about: the first event after a write,
        which it will write in a moment along with those that come meanwhile, and what is urgent.
        """
        if self._closed.is_set():
            return
        self._events.append(event)  # first: a write clears `_woken` and then counts the events
        is_urgent = isinstance(event, TierFinished | Restarted)
        if is_urgent or not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the worker
                self._loop.call_soon_threadsafe(self._wake, is_urgent)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write in the background meanwhile. What is left then is the `rest`."""
        writing = asyncio.create_task(self._write())
        try:
            yield
        finally:
            self._closed.set()
            self._news.set()
            self._urgent.set()
            await writing

    @property
    def rest(self) -> list[StreamEvent]:
        """What the store does not have yet, as far as it is known to have the others."""
        return self._unwritten(len(self._events))

    def _unwritten(self, count: int) -> list[StreamEvent]:
        """The same of the first `count` events."""
        if self._unsure:
            return [Restarted(), Started(), *self._events[:count]]
        return [*self._events[self._written : count]]

    def _wake(self, is_urgent: bool) -> None:
        self._news.set()  # also when all is written by now: only a pass of `_write` clears `_woken`
        if is_urgent:
            self._urgent.set()

    async def _flush(self) -> None:
        """Write what is left, unless the lease is lost. Raises what `DATABASE_AWAY` names."""
        count = len(self._events)  # more may come while this is written
        told = [event for event in self._unwritten(count) if not isinstance(event, Finished)]
        if self._lost or not told:
            return
        self._unsure = True
        self._lost = not await self._store.append(self._claim, told)
        self._unsure = False
        self._written = count - isinstance(self._events[count - 1], Finished)

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            await self._gather()
            self._news.clear()
            self._urgent.clear()
            self._woken = False
            if self._closed.is_set():
                return
            try:
                await self._flush()
            except DATABASE_AWAY:
                await asyncio.sleep(RETRY_S)
                self._news.set()
            self._wrote_at = time.monotonic()

    async def _gather(self) -> None:
        """Let a moment pass after the last write; or if it has passed, wait for a tier's end."""
        rest_s = self._wrote_at + GATHER_S - time.monotonic()
        waited_for, most_s = (self._closed, rest_s) if rest_s > 0 else (self._urgent, GATHER_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(waited_for.wait(), most_s)
