"""Proving the version that is shown, in the background of `judge dev`.

One version is proven at a time, in a thread. Before each question to the boxes it is asked whether
the version is still wanted; an outdated proof ends there, and the next one begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import structlog

from judge.faults import JudgeFault
from judge.judging import Judge
from judge.problem import Problem
from judge.proof.cache import CACHE_NAME, Cache, FileCache
from judge.proof.outcomes import Proof
from judge.proof.prover import Prover
from judge.service.author_desk import AuthorDesk
from judge.service.waiting import either
from judge.settings import Settings
from sandbox.boxes import SandboxError

LOOK_S = 1.0
TELL_S = 0.25  # between two words on how far it has come
QUICK_SEEDS = 4
LOG = structlog.get_logger()


class Outdated(Exception):
    """There is a newer version, or nobody waits any more: the proof is to be left unfinished."""


@dataclass
class Course:
    """One proof under way, as whoever proves sees it."""

    is_wanted: Callable[[], bool]
    tell: Callable[[int, int], None]
    _told_s: float = field(default=0.0, init=False)

    def require_wanted(self) -> None:
        """To be called before each question. Raises `Outdated`."""
        if not self.is_wanted():
            raise Outdated

    def progressed(self, answered: int, asked: int) -> None:
        """So many questions are answered."""
        now_s = time.monotonic()
        if now_s - self._told_s > TELL_S:
            self._told_s = now_s
            self.tell(answered, asked)


Prove = Callable[[Problem, Course], Proof]
MakeProve = Callable[[Judge], Prove]


@dataclass(frozen=True)
class Authoring:
    """What `judge dev` adds to a service: a desk, and what proves in the boxes of a judge."""

    desk: AuthorDesk
    prover: MakeProve


async def prove_versions(desk: AuthorDesk, prove: Prove, stop: asyncio.Event) -> None:
    """Prove each version that the desk shows, until `stop` is set."""
    threads = ThreadPoolExecutor(1, thread_name_prefix="proving")
    try:
        with desk.bell() as bell:
            while not stop.is_set():
                problem = desk.provable
                if problem is None or desk.news.proving.state != "waiting":
                    await bell.wait(LOOK_S)
                    continue
                await _prove(desk, prove, problem, threads, stop)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


async def _prove(
    desk: AuthorDesk,
    prove: Prove,
    problem: Problem,
    threads: ThreadPoolExecutor,
    stop: asyncio.Event,
) -> None:
    loop, version = asyncio.get_running_loop(), problem.version

    def is_wanted() -> bool:
        return desk.version == version and not stop.is_set()

    def tell(answered: int, asked: int) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(desk.progressed, version, answered, asked)

    desk.begun()
    working = loop.run_in_executor(threads, prove, problem, Course(is_wanted, tell))
    await either(working, stop)
    if not working.done():
        working.add_done_callback(lambda work: work.cancelled() or work.exception())
        return
    try:
        desk.proved(working.result())
    except Outdated:
        LOG.debug("proof left unfinished", problem=problem.slug, version=version[:12])
    except (JudgeFault, SandboxError) as fault:
        desk.stopped(version, str(fault))
    except Exception as error:  # the preview goes on, and the next version is tried again
        LOG.exception("proving failed", problem=problem.slug, version=version[:12])
        desk.stopped(version, f"{type(error).__name__}: {error}. The log has more.")


# --- what proves ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _WhileWanted:
    """A cache that is asked before each question, and so ends an outdated proof."""

    kept: Cache
    course: Course

    def get(self, key: bytes) -> bytes | None:
        """What is kept under `key`. Raises `Outdated`."""
        self.course.require_wanted()
        return self.kept.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer."""
        self.kept.put(key, answer)


def quick_prover(settings: Settings) -> MakeProve:
    """What proves with few seeds. Answers are kept where `judge verify` keeps them."""

    def make(judge: Judge) -> Prove:
        def prove(problem: Problem, course: Course) -> Proof:
            with FileCache(settings.cache / CACHE_NAME) as kept:
                return Prover(
                    judge,
                    threads=settings.processors,
                    seeds=QUICK_SEEDS,
                    cache=_WhileWanted(kept, course),
                    on_progress=course.progressed,
                ).prove(problem)

        return prove

    return make
