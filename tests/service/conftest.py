"""A real PostgreSQL for all tests of the service, and a database of its own for each."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from judge.service.database import connected, migrate, plain_url
from judge.service.embedded import embedded_postgres
from judge.service.queue import Queue
from judge.service.store import Store

T = TypeVar("T")
TEMPLATE = "template_judge"


@pytest.fixture(scope="session")
def reachable_path() -> Iterator[Path]:
    """A folder that another user can reach, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="judge-t-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres(reachable_path: Path) -> Iterator[str]:
    """A server for the session; the URL of its database with a migrated schema, a template."""
    with embedded_postgres(reachable_path / "db", lambda _words: None) as server:
        url = named(server.url, TEMPLATE)
        with psycopg.connect(plain_url(server.url), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
        migrate(url)
        yield url


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """A fresh database with the schema in it."""
    name = f"test_{token_hex(6)}"
    with psycopg.connect(plain_url(named(postgres, "postgres")), autocommit=True) as connection:
        database, template = sql.Identifier(name), sql.Identifier(TEMPLATE)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(database, template))
        yield named(postgres, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


def named(database_url: str, name: str) -> str:
    """The address of another database on the same server."""
    return make_url(database_url).set(database=name).render_as_string(hide_password=False)


@asynccontextmanager
async def open_store(database_url: str) -> AsyncIterator[Store]:
    """The store of a database."""
    async with connected(database_url) as database:
        yield Store(database, Queue(database_url, database))


def run_with_store(database_url: str, test: Callable[[Store], Coroutine[None, None, T]]) -> T:
    """Run a coroutine that needs a store."""

    async def run() -> T:
        async with open_store(database_url) as store:
            return await test(store)

    return asyncio.run(run())
