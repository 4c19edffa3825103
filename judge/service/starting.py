"""What `judge serve`, `judge dev` and `judge work` do, faults explained."""

from __future__ import annotations

import asyncio
import resource
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvloop

from judge.service import running
from judge.service.author_desk import AuthorDesk
from judge.service.author_proving import Authoring, MakeProve
from judge.service.database import DatabaseError
from judge.service.embedded import EmbeddedError, embedded_postgres, running_url
from judge.service.logs import set_up_logs
from judge.service.running import Announce
from judge.settings import Settings

DESCRIPTORS = 8192


class CannotStart(Exception):
    """The process cannot begin, or go on; the message says what to do.

    `by_user` when what it was told cannot be done.
    """

    def __init__(self, words: str, *, by_user: bool = False) -> None:
        super().__init__(words)
        self.by_user = by_user


def serve(
    settings: Settings,
    host: str,
    port: int,
    announce: Announce,
    *,
    with_worker: bool,
    authoring: Authoring | None = None,
) -> None:
    """Serve until asked to stop. Raises `CannotStart`, `SandboxError`, `JudgeFault`."""
    set_up_logs(settings.log)
    with (
        _explained(),
        running.listen(host, port) as listener,
        _database(settings, announce) as url,
    ):
        _run(
            running.serve(
                settings, url, listener, announce, with_worker=with_worker, authoring=authoring
            )
        )


def preview(
    settings: Settings,
    host: str,
    port: int,
    announce: Announce,
    folder: Path,
    prover: MakeProve,
) -> None:
    """Serve a problem folder to its author until asked to stop. Raises as `serve` does.

    Its database is its own and ends with it, whatever is set: a preview leaves nothing behind.
    `prover` makes what proves the exercise in the boxes of a judge.
    """
    with tempfile.TemporaryDirectory(prefix="judge-dev-") as made:
        data = Path(made)
        data.chmod(0o755)  # the database's user must be able to reach its part of it
        own = settings.model_copy(update={"database_url": "", "data": data})
        announce("submissions and verdicts of this preview are forgotten when it ends")
        authoring = Authoring(AuthorDesk(folder), prover)
        serve(own, host, port, announce, with_worker=True, authoring=authoring)


def work(settings: Settings, announce: Announce) -> None:
    """Judge until asked to stop. Raises as `serve` does."""
    set_up_logs(settings.log)
    with _explained():
        url = settings.database_url or running_url(settings.data)
        if url is None:
            raise CannotStart(
                "there is no queue to work for: set JUDGE_DATABASE_URL, or start `judge serve` "
                "on this machine first",
                by_user=True,
            )
        _run(running.work(settings, url, announce))


def _run(process: Coroutine[None, None, None]) -> None:
    """Run it, with as many descriptors as may be had: each connection and each box takes some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if most == resource.RLIM_INFINITY else min(most, DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(process)


@contextmanager
def _database(settings: Settings, announce: Announce) -> Iterator[str]:
    """The address of the database that is set, or of one of our own, which runs meanwhile."""
    if settings.database_url:
        announce("database: the one that JUDGE_DATABASE_URL names")
        yield settings.database_url
        return
    with embedded_postgres(settings.data, announce, bwrap=settings.bwrap) as server:
        announce(f"database: PostgreSQL {server.version}, {server.why}, data in {settings.data}")
        yield server.url


@contextmanager
def _explained() -> Iterator[None]:
    try:
        with _first_of_many():
            yield
    except running.CannotServe as error:
        raise CannotStart(str(error), by_user=True) from None
    except (DatabaseError, EmbeddedError) as error:
        raise CannotStart(str(error)) from None


@contextmanager
def _first_of_many() -> Iterator[None]:
    """Of several faults that end a process together, the first."""
    try:
        yield
    except ExceptionGroup as group:
        first: Exception = group
        while isinstance(first, ExceptionGroup):
            first = first.exceptions[0]
        raise first from None
