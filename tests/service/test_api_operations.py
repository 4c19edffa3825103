"""Is it alive, does it judge, and what it answers while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import httpx
import psycopg
import pytest

from judge.problem import Problem
from judge.service.api import create_app
from judge.service.bank import Bank
from judge.service.database import connect, plain_url
from judge.service.doorbell import Doorbell
from judge.service.metrics import Metrics
from judge.service.parts import Parts
from judge.service.queue import Queue
from judge.service.rates import PassRates
from judge.service.records import WorkerRow
from judge.service.store import Store
from judge.settings import Settings
from tests.service.serving import ADDRESS, BODY, TOKEN, Api, run_with_api
from tests.small_problem import write_problem

NOWHERE = "postgresql://nobody:nothing@127.0.0.1:1/nothing"
WORKER = WorkerRow("w1", "desk", 42, "docker", slots=2, state="ready", boxes={"warm": 2})


async def readiness(api: Api) -> tuple[int, list[str]]:
    answer = await api.http.get("/readyz")
    assert answer.json()["ready"] is (answer.status_code == 200)
    return answer.status_code, answer.json()["reasons"]


def test_the_process_says_that_it_is_alive(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        answer = await api.http.get("/healthz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})

    run_with_api(database_url, tmp_path, test)


def test_not_ready_says_what_is_missing(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        assert await readiness(api) == (503, ["No worker is running: start `judge work`."])
        waiting = WorkerRow("w2", "desk", 43, "docker", 2, "waiting", "no Docker engine answers")
        await api.store.beat(waiting)
        assert await readiness(api) == (
            503,
            ["Worker desk/43 is waiting: no Docker engine answers."],
        )
        await api.store.beat(WORKER)
        assert await readiness(api) == (200, [])
        api.parts.stopping.set()
        assert await readiness(api) == (503, ["This server is stopping."])

    run_with_api(database_url, tmp_path, test)


def test_a_worker_that_is_silent_is_none(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await api.store.beat(WORKER)
        with psycopg.connect(plain_url(database_url)) as connection:
            connection.execute("UPDATE workers SET seen_at = now() - interval '1 minute'")
        assert (await readiness(api))[0] == 503

    run_with_api(database_url, tmp_path, test)


def test_another_schema_is_named(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        with psycopg.connect(plain_url(database_url)) as connection:
            connection.execute("ALTER TABLE workers RENAME TO workers_of_a_later_version")
        status, (reason,) = await readiness(api)
        assert status == 503
        assert "schema" in reason

    run_with_api(database_url, tmp_path, test)


def test_metrics_are_text_for_prometheus(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await api.submit()
        answer = await api.http.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert 'judge_queue_waiting{kind="submit"} 1.0' in answer.text

    run_with_api(database_url, tmp_path, test)


async def published(_problems: Sequence[Problem]) -> None:
    """A bank's publishing, without a database."""


def ask_without_database(folder: Path, requests: Sequence[httpx.Request]) -> list[httpx.Response]:
    """The answers of an API whose database cannot be reached."""

    async def run() -> list[httpx.Response]:
        write_problem(folder)
        database = connect(NOWHERE)
        queue = Queue(NOWHERE, database)
        store = Store(database, queue)
        parts = Parts(
            store=store,
            doorbell=Doorbell(NOWHERE),
            bank=Bank(folder, published),
            rates=PassRates(store),
            settings=Settings(problems=folder),
            render_metrics=Metrics(store, queue).render,
            stopping=asyncio.Event(),
            bound_to_loopback=True,
        )
        await parts.bank.refresh()
        transport = httpx.ASGITransport(create_app(parts))
        async with httpx.AsyncClient(transport=transport) as client:
            return [await client.send(request) for request in requests]

    return asyncio.run(run())


def test_while_the_database_is_away_everything_that_needs_it_says_so(tmp_path: Path) -> None:
    url = f"{ADDRESS}/api/submissions"
    one = f"{url}/{'0' * 32}"
    requests = [
        httpx.Request("POST", url, json=BODY),
        httpx.Request("GET", url, headers=TOKEN),
        httpx.Request("GET", one),
        httpx.Request("GET", f"{one}/events"),
        httpx.Request("POST", f"{one}/rejudge"),
        httpx.Request("GET", f"{ADDRESS}/api/problems"),
        httpx.Request("GET", f"{ADDRESS}/api/problems/double"),
        httpx.Request("GET", f"{ADDRESS}/api/problems/double/solution"),
        httpx.Request("GET", f"{ADDRESS}/metrics"),
    ]
    for answer in ask_without_database(tmp_path, requests):
        assert answer.status_code == 503, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"] == "2"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "nobody" not in answer.text


def test_while_the_database_is_away_the_page_and_health_are_there(tmp_path: Path) -> None:
    paths = ("/", "/problems/double", "/healthz", "/openapi.json", "/readyz")
    answers = ask_without_database(
        tmp_path, [httpx.Request("GET", f"{ADDRESS}{path}") for path in paths]
    )
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 503]
    assert answers[-1].json()["reasons"] == ["The database does not answer."]


def test_a_fault_of_ours_is_answered_with_a_number_and_nothing_else(
    database_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        with psycopg.connect(plain_url(database_url)) as connection:
            connection.execute("UPDATE judgings SET seed = -1, state = 'lost'")
        answer = await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        detail = answer.json()["detail"]
        assert detail.startswith("This was our fault, not yours.")
        number = detail.split()[-1].removesuffix(".")
        assert "Traceback" not in answer.text
        assert number in "".join(capfd.readouterr())

    run_with_api(database_url, tmp_path, test)


def test_an_address_and_a_method_that_are_none_are_refused_in_words(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        missing = await api.http.get("/api/problems/")
        assert (missing.status_code, missing.json()["type"]) == (404, "urn:judge:unknown-address")
        for path in ("/docs", "/redoc", "/%2e%2e/etc/passwd"):
            assert (await api.http.get(path)).status_code == 404
        wrong = await api.http.delete("/api/problems")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")
        assert wrong.json()["detail"] == "Use GET here."

    run_with_api(database_url, tmp_path, test)
