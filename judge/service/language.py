"""Completion and types for the editor: the WebSocket between a page and a language server.

Theory of operation
-------------------
`/api/problems/{slug}/language` speaks the language server protocol, one JSON-RPC message in each
text frame. Every connection has a server of its own (`language_server`), and says to it, and hears
from it, only what may pass (`language_messages`). Servers are few: a cap in all and one for each
student. Whoever comes late is refused before the connection is made, and the page does without.

Three tasks run for a connection: one for each direction, and one that looks at the clock. Whichever
ends first names why, and then everything ends: the connection, the process, its workspace. A page
that says nothing for some minutes is disconnected and comes back when there is typing again; a
server that does not answer is taken for hung.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

import msgspec
import structlog
from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from judge.inspection import CONTRACT
from judge.own_tests import MAX_TEST_FILES
from judge.problem import Problem
from judge.service.bank import Bank
from judge.service.errors import Refusal
from judge.service.identity import identify
from judge.service.language_messages import Misuse, Passage
from judge.service.language_server import LanguageServer, ServerEnded, Sources
from judge.service.languages import Patience
from judge.service.parts import Parts
from judge.service.problems_api import find_problem

MESSAGES_PER_S = 40.0  # what comes faster waits
BURST = 120.0
GOING_AWAY, POLICY, INTERNAL, RESTARTING = 1001, 1008, 1011, 1012  # of RFC 6455
LOG = structlog.get_logger()

router = APIRouter()


@dataclass(frozen=True)
class Ending:
    """Why a connection ends."""

    code: int
    reason: str


@router.websocket("/api/problems/{slug}/language")
async def connect_language_server(websocket: WebSocket, slug: str) -> None:
    """Serve one editor until either side ends."""
    parts: Parts = websocket.app.state.parts
    settings, languages = parts.settings, parts.languages
    try:
        student = identify(websocket, bound_to_loopback=parts.bound_to_loopback)
        problem = find_problem(parts, slug)
        sources = Sources.of(problem, _contracts(parts.bank, problem))
        with languages.seat(student.student, settings.language_servers):
            async with languages.server(sources, settings.bwrap) as server:
                passage = Passage(
                    server.workspace, server.shown, sources.documents, problem.limits.source_bytes,
                    more_tests=MAX_TEST_FILES if sources.takes_tests else 0,
                )  # fmt: skip
                await websocket.accept()
                session = Session(websocket, server, passage, languages.patience)
                await session.run(parts.stopping)
    except Refusal as refusal:
        await websocket.send_denial_response(refusal.response())


def _contracts(bank: Bank, problem: Problem) -> dict[str, bytes]:
    """The contracts of what a problem is judged on top of, by the paths of the modules."""
    modules = [(need, problem.module_of_need(need.slug)) for need in bank.all()]
    return {path: need.contents[CONTRACT] for need, path in modules if path is not None}


@dataclass
class Session:
    """One editor and its server."""

    websocket: WebSocket
    server: LanguageServer
    passage: Passage
    patience: Patience
    _heard: float = field(default_factory=time.monotonic)
    _saying: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, stopping: asyncio.Event) -> None:
        """Pass messages on until one side ends, the clock says so, or the judge stops."""
        tasks = [
            asyncio.create_task(each)
            for each in (self._inward(), self._outward(), self._watch(), _stopped(stopping))
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ending = next(iter(done)).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if ending is not None:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it may be gone by now
                await self.websocket.close(ending.code, ending.reason)

    async def _inward(self) -> Ending | None:
        """From the editor to the server."""
        allowance = Allowance(MESSAGES_PER_S, BURST)
        while True:
            try:
                message = await self.websocket.receive_text()
                await allowance.take()
                self._heard = time.monotonic()
                forward, answer = self.passage.inward(message)
                if forward is not None:
                    await self.server.send(forward)
                if answer is not None:
                    await self._say(answer)
            except WebSocketDisconnect:
                return None
            except KeyError:  # a frame of bytes
                return Ending(POLICY, "Messages are text.")
            except Misuse as error:
                return Ending(POLICY, str(error)[:100])
            except ServerEnded:
                return _ended()

    async def _outward(self) -> Ending | None:
        """From the server to the editor."""
        while True:
            try:
                forward, answer = self.passage.outward(await self.server.receive())
                if forward is not None:
                    await self._say(forward)
                if answer is not None:
                    await self.server.send(answer)
            except WebSocketDisconnect:
                return None
            except (ServerEnded, msgspec.DecodeError):
                return _ended()

    async def _say(self, message: bytes) -> None:
        async with self._saying:
            await self.websocket.send_text(message.decode())

    async def _watch(self) -> Ending:
        """Look at the clock."""
        patience = self.patience
        while True:
            await asyncio.sleep(min(patience.idle_s, patience.answer_s) / 4)
            if self.passage.longest_wait_s() > patience.answer_s:
                LOG.warning("language server hung", pid=self.server.pid)
                return Ending(INTERNAL, "The language server did not answer.")
            if time.monotonic() - self._heard > patience.idle_s:
                return Ending(GOING_AWAY, "Nothing was typed for a while.")


async def _stopped(stopping: asyncio.Event) -> Ending:
    await stopping.wait()
    return Ending(RESTARTING, "The judge restarts.")


def _ended() -> Ending:
    return Ending(INTERNAL, "The language server has ended.")


class Allowance:
    """So many a second, with some in store; who takes more waits."""

    def __init__(self, per_s: float, most: float) -> None:
        self._per_s, self._most = per_s, most
        self._left, self._at = most, time.monotonic()

    async def take(self) -> None:
        """Take one, sooner or later."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_s) - 1
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_s)
