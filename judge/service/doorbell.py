"""One connection that listens for all streams of a process.

Who waits for a submission is woken when something of it was written. A bell that is not heard (the
connection was lost, say) costs a second, since readers also look by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import structlog

from judge.service.database import plain_url
from judge.service.store import CHANNEL

RECONNECT_S = 1.0
LOG = structlog.get_logger()


class Bell:
    """Rings when something was written about one submission."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake whoever waits, now or later."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when it has rung since the last time, or after `timeout_s`."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._rung.wait(), timeout_s)
        self._rung.clear()


class Doorbell:
    """The bells of one process."""

    def __init__(self, database_url: str) -> None:
        self._url = plain_url(database_url)
        self._bells: dict[str, set[Bell]] = {}
        self.bells = 0  # how many there are

    @contextmanager
    def bell(self, submission_id: str) -> Iterator[Bell]:
        """A bell for a submission. What is written from now on will ring it: read after this."""
        bell = Bell()
        bells = self._bells.setdefault(submission_id, set())
        bells.add(bell)
        self.bells += 1
        try:
            yield bell
        finally:
            self.bells -= 1
            bells.discard(bell)
            if not bells:
                self._bells.pop(submission_id, None)

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                LOG.warning("doorbell lost, connecting again", error=str(error))
            await asyncio.sleep(RECONNECT_S)

    def ring_all(self) -> None:
        """Wake everybody, so that they look at what else has changed."""
        for submission_id in list(self._bells):
            self._ring(submission_id)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            self.ring_all()  # for what was missed
            async for notification in connection.notifies():
                self._ring(notification.payload)

    def _ring(self, submission_id: str) -> None:
        for bell in self._bells.get(submission_id, ()):
            bell.ring()
