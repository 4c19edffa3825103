"""Plain connections: what is given out works, whatever became of what was laid back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from judge.service.database import plain_url
from judge.service.pool import Connection, Pool


def run(url: str, test: Callable[[Pool], Awaitable[None]], *, size: int = 2) -> None:
    async def with_pool() -> None:
        pool = Pool(plain_url(url), {}, size=size, patience_s=0.2)
        try:
            await test(pool)
        finally:
            await pool.close()

    asyncio.run(with_pool())


async def backend(connection: Connection) -> int:
    """The process of the server that a connection leads to."""
    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    assert row is not None
    return int(row[0])


async def next_backend(pool: Pool) -> int:
    async with pool.connection() as connection:
        return await backend(connection)


def test_a_connection_is_used_again(database_url: str) -> None:
    async def test(pool: Pool) -> None:
        assert await next_backend(pool) == await next_backend(pool)

    run(database_url, test)


def test_nobody_is_given_what_the_server_has_closed(database_url: str) -> None:
    async def test(pool: Pool) -> None:
        ended = await next_backend(pool)
        async with await psycopg.AsyncConnection.connect(
            plain_url(database_url), autocommit=True
        ) as other:
            # Returns when the process is gone, and so is its end of the connection.
            await other.execute("SELECT pg_terminate_backend(%s, 10000)", [ended])
        assert await next_backend(pool) != ended

    run(database_url, test)


def test_a_transaction_that_was_left_open_is_not_lent_to_the_next(database_url: str) -> None:
    async def test(pool: Pool) -> None:
        async with pool.connection() as connection:
            await connection.execute("BEGIN")
            left = await backend(connection)
        assert await next_backend(pool) != left

    run(database_url, test)


def test_a_statement_that_was_cancelled_leaves_a_pool_that_works(database_url: str) -> None:
    async def test(pool: Pool) -> None:
        async def sleep() -> None:
            async with pool.connection() as connection:
                await connection.execute("SELECT pg_sleep(60)")

        for _ in range(3):  # more often than there is room
            sleeping = asyncio.create_task(sleep())
            await asyncio.sleep(0.05)
            sleeping.cancel()
            await asyncio.gather(sleeping, return_exceptions=True)
        assert await next_backend(pool)

    run(database_url, test)


def test_who_finds_no_free_connection_is_told_in_time(database_url: str) -> None:
    async def test(pool: Pool) -> None:
        async with pool.connection():
            with pytest.raises(psycopg.OperationalError, match="no connection became free"):
                await next_backend(pool)
        assert await next_backend(pool)

    run(database_url, test, size=1)


def test_a_database_that_is_away_is_told_at_once_and_takes_no_room() -> None:
    async def test(pool: Pool) -> None:
        for _ in range(3):
            with pytest.raises(psycopg.OperationalError, match="connection failed"):
                await next_backend(pool)

    run("postgresql://judge@127.0.0.1:1/judge", test, size=1)
