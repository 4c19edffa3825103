"""From settings to a running process: `judge serve`, `judge work`, and how they end.

Whoever runs one asks it to stop with SIGINT, SIGTERM or SIGHUP. The first time, it takes nothing
new, lets what runs finish or gives it back, and ends. The second time it ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from secrets import token_hex

import structlog
import uvicorn
from sqlalchemy.ext.asyncio import AsyncEngine

from judge.judging import Judge
from judge.service.api import create_app
from judge.service.bank import Bank
from judge.service.caretaker import Caretaker
from judge.service.database import connected
from judge.service.doorbell import Doorbell
from judge.service.metrics import Metrics
from judge.service.parts import Parts
from judge.service.queue import Queue
from judge.service.store import Store
from judge.service.worker import Worker
from judge.settings import Settings
from judge.startup import choose_launcher

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLOSE_PATIENCE_S = 5  # for requests that are being answered when the server stops
BACKLOG = 2048
LOG = structlog.get_logger()

Announce = Callable[[str], None]


class CannotServe(Exception):
    """The address cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Stop:
    """How far a process is asked to end."""

    gracefully: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self) -> None:
        """Ask to end; asked twice, at once."""
        (self.at_once if self.gracefully.is_set() else self.gracefully).set()


# --- judge serve ----------------------------------------------------------------------------------


async def serve(
    settings: Settings,
    database_url: str,
    listener: socket.socket,
    announce: Announce,
    *,
    with_worker: bool,
) -> None:
    """Serve HTTP on `listener`, and judge here too unless told otherwise, until asked to stop.

    Raises `DatabaseError`, `SandboxError`, `JudgeFault`.
    """
    async with _opened(database_url) as kept, _stoppable() as stop:
        bank = Bank(settings.problems, kept.store.publish)
        await bank.refresh()
        announce(f"problems: {len(bank.all())} in {settings.problems}")
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(kept.doorbell.run())
            tasks.create_task(bank.watch(stop.gracefully))
            tasks.create_task(kept.caretaker.run(stop.gracefully))
            if with_worker:
                tasks.create_task(_work(settings, kept, announce, stop))
            else:
                announce("worker: none in this process; `judge work` joins from anywhere")
            announce(f"serving {address_of(listener)} (Ctrl-C ends)")
            await _serve_http(_parts(settings, kept, bank, stop, listener), listener, stop)
            listening.cancel()


def _parts(
    settings: Settings, kept: _Kept, bank: Bank, stop: Stop, listener: socket.socket
) -> Parts:
    return Parts(
        store=kept.store,
        doorbell=kept.doorbell,
        bank=bank,
        settings=settings,
        render_metrics=Metrics(kept.store, kept.queue).render,
        stopping=stop.gracefully,
        bound_to_loopback=ip_address(listener.getsockname()[0]).is_loopback,
    )


async def _serve_http(parts: Parts, listener: socket.socket, stop: Stop) -> None:
    config = uvicorn.Config(
        create_app(parts),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_PATIENCE_S,
        lifespan="off",
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await _first(serving, stop.gracefully)
    server.should_exit = True
    parts.doorbell.ring_all()  # so that open streams see that they are to end
    await _first(serving, stop.at_once)
    server.force_exit = True
    await serving


class _Server(uvicorn.Server):
    """Leaves signals to us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; raises `CannotServe`."""
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CannotServe(
            f"{host} port {port} cannot be served: {reason}. Choose with --host and --port."
        ) from None


def address_of(listener: socket.socket) -> str:
    """What to open in a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


# --- judge work -----------------------------------------------------------------------------------


async def work(settings: Settings, database_url: str, announce: Announce) -> None:
    """Judge what is queued until asked to stop. Raises as `serve` does."""
    async with _opened(database_url) as kept, _stoppable() as stop, asyncio.TaskGroup() as tasks:
        tasks.create_task(kept.caretaker.run(stop.gracefully))
        await _work(settings, kept, announce, stop)
        stop.gracefully.set()


async def _work(
    settings: Settings,
    kept: _Kept,
    announce: Announce,
    stop: Stop,
) -> None:
    slots = settings.processors
    with ExitStack() as opened:
        judge = await asyncio.to_thread(_warm_judge, settings, slots, announce, opened)
        try:
            name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}"
            worker = Worker(kept.store, kept.queue, judge, name=name, slots=slots)
            await worker.run(stop.gracefully, stop.at_once)
        finally:
            await asyncio.to_thread(opened.close)


def _warm_judge(
    settings: Settings,
    slots: int,
    announce: Announce,
    opened: ExitStack,
) -> Judge:
    launcher = choose_launcher(settings, None, announce)
    opened.callback(launcher.close)
    began = time.monotonic()
    judge = opened.enter_context(Judge.start(launcher, slots, spare=True))
    announce(f"worker: {slots} slots, warm after {time.monotonic() - began:.1f} s")
    return judge


# --- what both need -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kept:
    """The database and what speaks to it."""

    store: Store
    queue: Queue
    doorbell: Doorbell
    caretaker: Caretaker


@asynccontextmanager
async def _opened(database_url: str) -> AsyncIterator[_Kept]:
    async with connected(database_url) as engine:
        yield _kept(database_url, engine)


def _kept(database_url: str, engine: AsyncEngine) -> _Kept:
    queue = Queue(database_url, engine)
    store = Store(engine, queue)
    return _Kept(store, queue, Doorbell(database_url), Caretaker(engine, store, queue))


@asynccontextmanager
async def _stoppable() -> AsyncIterator[Stop]:
    """Signals that we are to heed ask to stop."""
    stop = Stop()
    loop = asyncio.get_running_loop()
    before = {each: signal.getsignal(each) for each in STOP_SIGNALS}
    heeded = [each for each, handler in before.items() if handler is not signal.SIG_IGN]
    for each in heeded:
        loop.add_signal_handler(each, stop.ask)
    try:
        yield stop
    finally:
        for each in heeded:
            loop.remove_signal_handler(each)
            signal.signal(each, before[each])


async def _first(task: asyncio.Task[None], event: asyncio.Event) -> None:
    """Return when the task is done or the event is set."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
