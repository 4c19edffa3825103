"""Connections to PostgreSQL, and its schema.

Migrations run at every start, under a lock, so that of several processes that start together one
migrates and the others wait. A schema that is newer than this code is refused: an older judge
must not write into it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import psycopg_pool
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from procrastinate.exceptions import ConnectorException
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from judge.service.pool import Pool

MIGRATIONS = Path(__file__).with_name("migrations")
MIGRATION_LOCK = 0x6A75646765  # any number, the same in every process
CONNECT_S = 10
POOL = 4  # of the engine; what every submission needs takes the plain ones
MORE_WHEN_BUSY = 8
PLAIN = 12
# A process that is stopped in the middle of a transaction, or cut off, lets go of its locks.
CONNECTION = {
    "connect_timeout": CONNECT_S,
    "options": "-c idle_in_transaction_session_timeout=10s",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
# What a database that is away, starting, out of disk, or tired of us raises.
DATABASE_AWAY = (
    OperationalError,
    InterfaceError,
    InternalError,
    PoolTimeoutError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.InternalError,
    psycopg_pool.PoolTimeout,
    ConnectorException,
)


class DatabaseError(Exception):
    """The database cannot be used; the message says what to do."""


def driver_url(database_url: str) -> URL:
    """The URL with our driver in it; raises `DatabaseError`."""
    try:
        url = make_url(database_url)
    except ArgumentError:
        raise DatabaseError(
            "JUDGE_DATABASE_URL is not a database's address; write postgresql://user:password@host/"
            "name"
        ) from None
    return url.set(drivername="postgresql+psycopg")


def plain_url(database_url: str) -> str:
    """The same for libpq, password included."""
    url = driver_url(database_url).set(drivername="postgresql")
    return url.render_as_string(hide_password=False)


@dataclass(frozen=True)
class Database:
    """The two ways to one database: the engine for what is rare, plain connections for the rest."""

    engine: AsyncEngine
    pool: Pool

    async def dispose(self) -> None:
        """Close all connections that nobody uses. The database can be used again."""
        await self.pool.close()
        await self.engine.dispose()


def connect(database_url: str) -> Database:
    """A database; connects when it is first used."""
    pool = Pool(plain_url(database_url), CONNECTION, size=PLAIN, patience_s=CONNECT_S)
    return Database(_engine(database_url), pool)


def _engine(database_url: str) -> AsyncEngine:
    return create_async_engine(
        driver_url(database_url),
        hide_parameters=True,  # what a student sent is nothing for a log
        pool_size=POOL,
        max_overflow=MORE_WHEN_BUSY,
        pool_timeout=CONNECT_S,
        pool_pre_ping=False,  # a round trip for each use; a broken connection is one 503 instead
        connect_args=CONNECTION,
    )


@asynccontextmanager
async def connected(database_url: str) -> AsyncIterator[Database]:
    """A database whose schema is current; raises `DatabaseError`."""
    await asyncio.to_thread(migrate, database_url)
    database = connect(database_url)
    try:
        yield database
    finally:
        await database.dispose()


def migrate(database_url: str, revision: str = "head") -> None:
    """Bring the schema up to date, or to another revision; raises `DatabaseError`."""
    url = driver_url(database_url)
    engine = sqlalchemy.create_engine(
        url, poolclass=NullPool, connect_args={"connect_timeout": CONNECT_S}
    )
    try:
        with engine.connect() as connection:
            connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_lock(MIGRATION_LOCK)))
            connection.commit()
            _upgrade(connection, revision)
    except DBAPIError as error:  # it is away, or does not let us make tables
        where = url.render_as_string(hide_password=True)
        raise DatabaseError(f"{where} cannot be used: {first_line(error)}") from None
    finally:
        engine.dispose()


def _upgrade(connection: sqlalchemy.Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError:
        newest = ScriptDirectory.from_config(config).get_current_head()
        raise DatabaseError(
            f"the database is of a newer judge than this one, which knows schema {newest}; "
            "upgrade this one"
        ) from None
    connection.commit()


def first_line(error: DBAPIError) -> str:
    """What the database said, in one line."""
    return str(error.orig).strip().partition("\n")[0]
