"""From settings to a running process: `judge serve`, `judge work`, and how they end.

Whoever runs one asks it to stop with SIGINT, SIGTERM or SIGHUP. The first time, it takes nothing
new, lets what runs finish or gives it back, and ends. The second time it ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from secrets import token_hex

import structlog
import uvicorn

from judge.faults import JudgeFault
from judge.judging import Judge
from judge.problem import Problem
from judge.service.api import create_app
from judge.service.author_proving import Authoring, prove_versions
from judge.service.bank import Bank
from judge.service.caretaker import Caretaker
from judge.service.connection import Connection, WebSocketConnection
from judge.service.database import DATABASE_AWAY, connected
from judge.service.doorbell import Doorbell
from judge.service.metrics import Metrics
from judge.service.page import Page, page_folder
from judge.service.parts import Parts
from judge.service.queue import Queue
from judge.service.rates import PassRates
from judge.service.records import WorkerRow
from judge.service.store import Store
from judge.service.waiting import either
from judge.service.worker import BEAT_S, Worker
from judge.settings import Settings
from judge.startup import choose_launcher

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLOSE_PATIENCE_S = 5  # for requests that are being answered when the server stops
CLEAR_UP_S = 2  # for boxes that were starting when they were closed
MESSAGE_BYTES = 512 * 1024  # of one WebSocket message: a document of 64 KiB, however it is written
BACKLOG = 2048
AUTHOR_EVERY_S = 0.25  # between two looks at the folder that somebody is writing
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
    authoring: Authoring | None = None,
) -> None:
    """Serve HTTP on `listener`, and judge here too unless told otherwise, until asked to stop.

    With `authoring` it is a preview of one exercise for its author. Raises `DatabaseError`,
    `SandboxError`, `JudgeFault`.
    """
    async with _opened(database_url) as kept, _stoppable() as stop:
        bank = _bank(settings, kept.store, authoring)
        await bank.refresh()
        announce(f"problems: {len(bank.all())} in {settings.problems}")
        page = await asyncio.to_thread(Page.read, page_folder())
        if not page.files:
            announce("page: not built; `make setup` builds it, the API works without it")
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(kept.doorbell.run())
            tasks.create_task(bank.watch(stop.gracefully))
            tasks.create_task(kept.caretaker.run(stop.gracefully))
            if authoring:
                tasks.create_task(authoring.desk.watch(bank, kept.store, stop.gracefully))
            if with_worker:
                tasks.create_task(_work(settings, kept, announce, stop, authoring))
            else:
                announce("worker: none in this process; `judge work` joins from anywhere")
            announce(f"serving {address_of(listener)} (Ctrl-C ends)")
            parts = _parts(settings, kept, bank, page, stop, listener)
            if authoring:
                announce(f"open {address_of(listener)}/problems/{authoring.desk.slug}")
                parts = replace(parts, author=authoring.desk)
            await _serve_http(parts, listener, stop)
            listening.cancel()


def _bank(settings: Settings, store: Store, authoring: Authoring | None) -> Bank:
    if authoring is None:
        return Bank(settings.problems, store.publish)
    slug = authoring.desk.slug

    async def publish(problems: Sequence[Problem]) -> None:
        await store.publish(sorted(problems, key=lambda each: each.slug != slug))

    return Bank(settings.problems, publish, every_s=AUTHOR_EVERY_S)


def _parts(
    settings: Settings,
    kept: _Kept,
    bank: Bank,
    page: Page,
    stop: Stop,
    listener: socket.socket,
) -> Parts:
    return Parts(
        store=kept.store,
        doorbell=kept.doorbell,
        bank=bank,
        rates=PassRates(kept.store),
        settings=settings,
        render_metrics=Metrics(kept.store, kept.queue).render,
        stopping=stop.gracefully,
        bound_to_loopback=ip_address(listener.getsockname()[0]).is_loopback,
        page=page,
    )


async def _serve_http(parts: Parts, listener: socket.socket, stop: Stop) -> None:
    config = uvicorn.Config(
        create_app(parts),
        http=Connection,
        ws=WebSocketConnection,
        ws_max_size=MESSAGE_BYTES,
        log_config=None,
        access_log=False,
        proxy_headers=True,
        forwarded_allow_ips=parts.settings.trusted_proxies,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_PATIENCE_S,
        lifespan="off",
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await either(serving, stop.gracefully)
    server.should_exit = True
    parts.doorbell.ring_all()  # so that open streams see that they are to end
    await either(serving, stop.at_once)
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
    except (OSError, UnicodeError) as error:
        reason = _reason(error).lower()
        raise CannotServe(
            f"{host} port {port} cannot be served: {reason}. Choose with --host and --port."
        ) from None


def _reason(error: OSError | UnicodeError) -> str:
    """Why one cannot listen, without the address, which `create_server` adds."""
    if isinstance(error, UnicodeError):
        return "no host can have this name"
    if isinstance(error, socket.gaierror) or error.errno is None:
        return error.strerror or str(error)
    return os.strerror(error.errno)


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
    authoring: Authoring | None = None,
) -> None:
    name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(3)}"
    # One more to prove in: what the author waits for is not to wait for a proof.
    slots = settings.processors + (authoring is not None)
    warming = _Warming(settings, announce, slots)
    try:
        judge = await _warmed(warming, kept.store, name, stop)
        if judge is not None:
            worker = Worker(kept.store, kept.queue, judge, name=name, slots=settings.processors)
            async with asyncio.TaskGroup() as tasks:
                if authoring:
                    prove = authoring.prover(judge)
                    tasks.create_task(prove_versions(authoring.desk, prove, stop.gracefully))
                await worker.run(stop.gracefully, stop.at_once)
    finally:
        await asyncio.to_thread(warming.close)


async def _warmed(warming: _Warming, store: Store, name: str, stop: Stop) -> Judge | None:
    """The judge when its boxes are warm; None when we are asked to stop before.

    Meanwhile the store hears that there will be one. Raises `SandboxError`, `JudgeFault`.
    """
    row = WorkerRow(
        id=name, host=platform.node(), pid=os.getpid(), sandbox="", slots=0,
        state="waiting", why="its boxes are starting",
    )  # fmt: skip
    while not (stop.gracefully.is_set() or warming.ended.done()):
        with contextlib.suppress(*DATABASE_AWAY):
            await store.beat(row)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEAT_S):
                await either(warming.ended, stop.gracefully)
    return warming.ended.result() if warming.ended.done() else None


class _Warming:
    """A judge on its way, in a thread that nobody has to wait for.

    Making an image can take minutes and cannot be interrupted; the thread ends with the process.
    `ended` has the judge, or what went wrong.
    """

    def __init__(self, settings: Settings, announce: Announce, slots: int) -> None:
        self.ended: asyncio.Future[Judge] = asyncio.get_running_loop().create_future()
        self._settings = settings
        self._announce = announce
        self._slots = slots
        self._opened = ExitStack()
        self._opening = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._warm, daemon=True, name="warming")
        self._thread.start()

    def close(self) -> None:
        """End what there is, and what there will be."""
        with self._opening:
            self._is_closed = True
            self._opened.close()
        self._thread.join(CLEAR_UP_S)

    def _warm(self) -> None:
        outcome: Judge | Exception
        try:
            outcome = self._judge()
        except Exception as error:  # noqa: BLE001  # it is raised where it is waited for
            outcome = error  # ... or nowhere: what is closed while it starts fails in any way
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            self.ended.get_loop().call_soon_threadsafe(partial(_settle, self.ended, outcome))

    def _judge(self) -> Judge:
        launcher = choose_launcher(self._settings, None, self._announce)
        self._keep(launcher.close)
        slots, began = self._slots, time.monotonic()
        judge = Judge.start(launcher, slots, spare=True)
        self._keep(judge.close)
        took_s, many = time.monotonic() - began, "" if slots == 1 else "s"
        self._announce(f"worker: {slots} slot{many}, warm after {took_s:.1f} s")
        return judge

    def _keep(self, close: Callable[[], None]) -> None:
        """Close it with the others, or now when they are closed already."""
        with self._opening:
            self._opened.callback(close)
            if self._is_closed:
                self._opened.close()
                raise JudgeFault("asked to stop")


def _settle(ended: asyncio.Future[Judge], outcome: Judge | Exception) -> None:
    if ended.cancelled():
        return
    if isinstance(outcome, Exception):
        ended.set_exception(outcome)
        ended.exception()  # so that it is not told when nobody waits any more
    else:
        ended.set_result(outcome)


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
    async with connected(database_url) as database:
        queue = Queue(database_url, database)
        store = Store(database, queue)
        caretaker = Caretaker(database.engine, store, queue)
        yield _Kept(store, queue, Doorbell(database_url), caretaker)


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
