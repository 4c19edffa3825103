"""The language servers of this process: how many there are, and for whom.

A server takes some 100 MB, so they are few: a cap in all, and one for each student.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from judge.service.errors import ErrorKind, Refusal
from judge.service.language_server import Confinement, LanguageServer, NoLanguageServer, Sources

PER_STUDENT = 2
RETRY_AFTER_S = 60.0
LOG = structlog.get_logger()


@dataclass(frozen=True)
class Patience:
    """How long a page may say nothing, and a server not answer."""

    idle_s: float = 300.0
    answer_s: float = 20.0


class Languages:
    """The language servers of this process."""

    def __init__(self, patience: Patience | None = None, program: str = "ty") -> None:
        self.patience = patience or Patience()
        self._program = program
        self._taken: Counter[str] = Counter()
        self._choosing = asyncio.Lock()
        self._confinement: Confinement | None = None

    @property
    def open(self) -> int:
        """How many there are."""
        return self._taken.total()

    @contextmanager
    def seat(self, student: str, most: int) -> Iterator[None]:
        """Room for one more server; raises `Refusal`."""
        if most == 0:
            raise _none("Completion is turned off on this server.")
        if self._taken[student] >= PER_STUDENT:
            raise _none("Completion is open in your other tabs; close one of them.")
        if self.open >= most:
            raise _none("Completion serves others just now. Everything else works without it.")
        self._taken[student] += 1
        try:
            yield
        finally:
            self._taken[student] -= 1
            if not self._taken[student]:
                del self._taken[student]

    @asynccontextmanager
    async def server(self, sources: Sources, bwrap: Path | None) -> AsyncIterator[LanguageServer]:
        """A server for as long as it is needed; raises `Refusal`."""
        try:
            server = await LanguageServer.start(await self._chosen(bwrap), sources)
        except NoLanguageServer as error:
            raise _none(f"Completion is not available. {error}") from None
        try:
            yield server
        finally:
            await asyncio.shield(server.close())

    async def _chosen(self, bwrap: Path | None) -> Confinement:
        async with self._choosing:
            if self._confinement is None:
                self._confinement = await asyncio.to_thread(
                    Confinement.choose, self._program, bwrap
                )
                confined = "bubblewrap" if self._confinement.bwrap else "nothing but its limits"
                LOG.info("language servers", confined_by=confined)
            return self._confinement


def _none(detail: str) -> Refusal:
    return Refusal(ErrorKind.NO_LANGUAGE_SERVER, detail, retry_after_s=RETRY_AFTER_S)
