"""What an attack on the service did once, and does no more."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from judge.results import Chart
from judge.service import connection, database
from judge.service.connection import Connection
from judge.service.drawing import Drawer
from tests.service.serving import (
    OTHER,
    REMOTE,
    TOKEN,
    Api,
    chart,
    judged,
    run_with_api,
    served,
)

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@asynccontextmanager
async def listening(api: Api) -> AsyncIterator[int]:
    """The API behind the connections that `judge serve` has; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        api.app, http=Connection, ws="none", log_config=None, lifespan="off",
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve([listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def said(port: int, *parts: bytes) -> bytes:
    """What is answered to raw bytes until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


# --- connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endless",
    [HEAD + b"X-Long: " + b"x" * (2 << 20), HEAD + b"X-Many: x\r\n" * 200_000,
     b"GET /" + b"x" * (2 << 20),
     HEAD.replace(b"GET", b"POST") + b"Content-Type: application/json\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: x\r\n" * 200_000],
    ids=["a header", "headers", "an address", "trailers"],
)  # fmt: skip
def test_a_head_without_an_end_is_not_kept(
    endless: bytes, database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        async with listening(api) as port, asyncio.timeout(10):
            pieces = [endless[at : at + 65536] for at in range(0, len(endless), 65536)]
            answer = await said(port, *pieces)
            assert not answer or answer.startswith(b"HTTP/1.1 400")

    run_with_api(database_url, tmp_path, test)


def test_a_body_at_the_bound_passes_in_small_parts_too(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        async with listening(api) as port, asyncio.timeout(20):
            body = b"[" + b" " * (200 * 1024) + b"]"
            head = HEAD.replace(b"GET /healthz", b"POST /api/submissions")
            head += b"Content-Type: application/json\r\nConnection: close\r\n"
            pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
            whole = head + b"Content-Length: %d\r\n\r\n" % len(body)
            assert b" 422 " in (await said(port, whole, *pieces))[:20]
            chunks = [b"400\r\n" + body[:1024] + b"\r\n" for _ in range(200)]
            chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
            answer = await said(port, chunked, *chunks, b"0\r\n\r\n")
            assert b" 400 " in answer[:20]  # of the API: it is no JSON
            assert b"urn:judge:unreadable-body" in answer

    run_with_api(database_url, tmp_path, test)


@pytest.mark.parametrize("begun", [b"", HEAD, HEAD + b"\r\n" + b"\r\n"])
def test_who_does_not_finish_a_request_is_not_waited_for(
    begun: bytes, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REQUEST_S", 0.5)

    async def test(api: Api) -> None:
        async with listening(api) as port, asyncio.timeout(10):
            await said(port, begun)

    run_with_api(database_url, tmp_path, test)


def test_more_connections_than_there_is_room_for_are_not_taken(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _which: (20, 20))

    async def test(api: Api) -> None:
        async with listening(api) as port, asyncio.timeout(10):
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
            assert await said(port, HEAD + b"\r\n") == b""
            for _, writer in opened:
                writer.close()
            await asyncio.sleep(0.2)
            assert b" 200 " in await said(port, HEAD + b"Connection: close\r\n\r\n")

    run_with_api(database_url, tmp_path, test)


# --- streams --------------------------------------------------------------------------------------


def test_streams_opened_and_dropped_cost_no_connection_to_the_database(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        request = f"GET /api/submissions/{submission}/events HTTP/1.1\r\nHost: localhost\r\n"
        request += f"Authorization: {TOKEN['Authorization']}\r\n\r\n"

        async def drop(port: int) -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request.encode())
            await asyncio.sleep(0.02)
            writer.transport.abort()

        async with served(api) as http, asyncio.timeout(30):
            port = http.base_url.port
            assert port is not None
            for _ in range(10):
                await asyncio.gather(*(drop(port) for _ in range(20)))
            asked_s = time.monotonic()
            await api.store.ping()
            assert time.monotonic() - asked_s < 5
            while api.parts.doorbell.bells:  # nothing announces it
                await asyncio.sleep(0.05)
        assert not api.parts.seats._taken

    run_with_api(database_url, tmp_path, test)
    assert "garbage collector" not in caplog.text


# --- charts ---------------------------------------------------------------------------------------


def test_a_chart_that_the_renderer_cannot_bear_harms_nobody(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.service.drawing.PATIENCE_S", 5.0)
    spec = {
        "mark": "bar",
        "encoding": {
            "x": {"field": "weight", "bin": {"step": 1}, "type": "quantitative"},
            "y": {"aggregate": "count"},
        },
    }
    table = [{"key": "a", "weight": 0.0}, {"key": "b", "weight": 1e9}]
    wild = Chart.model_validate(chart().model_dump() | {"spec": spec, "table": table})

    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission, lambda claim: judged(claim, charts=[wild]))
        url = f"/api/submissions/{submission}/charts/weights.svg"
        drawing = asyncio.create_task(api.http.get(url, headers=TOKEN))
        longest_s = 0.0
        while not drawing.done():
            began_s = time.monotonic()
            assert (await api.http.get("/healthz")).status_code == 200
            longest_s = max(longest_s, time.monotonic() - began_s)
            await asyncio.sleep(0.01)
        assert (await drawing).status_code == 500
        assert (await drawing).json()["type"] == "urn:judge:undrawable-chart"
        assert longest_s < 1

    run_with_api(database_url, tmp_path, test)


def test_a_chart_is_drawn_once() -> None:
    async def run() -> None:
        drawer = Drawer()
        first = await drawer.draw(chart())
        began_s = time.monotonic()
        again = await asyncio.gather(*(drawer.draw(chart()) for _ in range(20)))
        assert time.monotonic() - began_s < 0.5
        assert all(each is first for each in again)

    asyncio.run(run())


# --- who is who -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["X-Real-IP", "X-Client-IP", "CF-Connecting-IP", "Via"])
def test_what_a_proxy_passes_on_is_not_from_the_person_at_the_machine(
    name: str, database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        mine = await api.submit({})
        url = f"/api/submissions/{mine}"
        assert (await api.http.get(url)).status_code == 200
        assert (await api.http.get(url, headers={name: REMOTE[0]})).status_code == 404

    run_with_api(database_url, tmp_path, test)


def test_a_place_in_a_history_is_ones_own(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await api.submit()
        theirs = await api.submit(OTHER)
        url = f"/api/submissions?before={theirs}"
        assert (await api.http.get(url, headers=TOKEN)).json()["submissions"] == []

    run_with_api(database_url, tmp_path, test)


# --- logs -----------------------------------------------------------------------------------------


FAILING = """
import structlog
from judge.service.logs import set_up_logs

def fail(words):
    raise ValueError(len(words))

set_up_logs("text")
try:
    fail("a password")
except ValueError:
    structlog.get_logger().exception("it failed")
"""


def test_no_log_shows_what_variables_hold() -> None:
    command = [sys.executable, "-c", FAILING]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "ValueError" in shown
    assert "a password" not in shown


def test_errors_of_the_database_do_not_show_values(database_url: str) -> None:
    async def run() -> None:
        opened_database = database.connect(database_url)
        try:
            with pytest.raises(Exception, match="hidden") as failed:
                async with opened_database.engine.connect() as opened:
                    await opened.exec_driver_sql("SELECT %(value)s / 0", {"value": "my-source"})
            assert "my-source" not in str(failed.value).partition("[SQL")[2]
        finally:
            await opened_database.dispose()

    asyncio.run(run())
