"""A submission's events, over a real server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from judge.service import stream
from judge.service.database import plain_url
from judge.service.folding import replay
from judge.service.seats import SEATS
from judge.verdicts import Verdict
from tests.service.serving import OTHER, TOKEN, Api, judged, run_with_api, served

FULL = [
    "queued", "started", "tier_started", "check_finished", "tier_finished", "tier_started",
    "check_finished", "chart", "tier_finished", "finished",
]  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """One frame; `kind` is "" for a comment or a retry time."""

    kind: str
    id: int | None
    data: str


async def read(response: httpx.Response) -> AsyncIterator[Frame]:
    """The frames of a stream, as they come."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        number = int(fields["id"]) if "id" in fields else None
        yield Frame(fields.get("event", ""), number, fields.get("data", ""))
        fields = {}


async def follow(
    http: httpx.AsyncClient, submission: str, last: int | str | None = None
) -> list[Frame]:
    """All frames until the stream ends, but for comments and positions."""
    headers = [(name.encode(), value.encode()) for name, value in TOKEN.items()]
    if last is not None:
        headers.append((b"Last-Event-ID", str(last).encode("latin-1")))
    async with http.stream("GET", events(submission), headers=headers) as response:
        assert response.status_code == 200, response.status_code
        assert response.headers["content-type"].startswith("text/event-stream")
        return [frame async for frame in read(response) if frame.kind not in ("", "position")]


def events(submission: str) -> str:
    return f"/api/submissions/{submission}/events"


def kinds(frames: list[Frame]) -> list[str]:
    return [frame.kind for frame in frames]


def test_each_event_appears_when_it_happens(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        async with (
            served(api) as http,
            asyncio.timeout(20),
            http.stream("GET", events(submission), headers=TOKEN) as response,
        ):
            frames = read(response)
            assert (await anext(frames)).kind == ""  # the time to reconnect
            assert (await anext(frames)).kind == "queued"
            claim = await api.claim(submission)
            assert (await anext(frames)).kind == "started"
            result = judged(claim)
            said = list(replay(result))
            for event in said[:-1]:
                sent_s = time.monotonic()
                assert await api.store.append(claim, [event])
                frame = await anext(frames)
                assert json.loads(frame.data) == event.model_dump(mode="json")
                assert time.monotonic() - sent_s < stream.POLL_S * 0.9  # by the bell
            assert await api.store.finish(claim, result, said[-1:], said)
            assert (await anext(frames)).kind == "finished"
            assert [frame async for frame in frames] == []

    run_with_api(database_url, tmp_path, test)


def test_without_a_bell_events_appear_within_a_second_or_so(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        async with served(api) as http, asyncio.timeout(20):
            following = asyncio.create_task(follow(http, submission))
            await asyncio.sleep(0.5)
            with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
                )
            await api.finish(submission)
            assert kinds(await following) == FULL

    run_with_api(database_url, tmp_path, test)


def test_a_client_that_reconnects_misses_nothing_and_sees_nothing_twice(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        async with served(api) as http, asyncio.timeout(20):
            full = await follow(http, submission)
            assert kinds(full) == FULL
            for place, frame in enumerate(full[:-1]):
                rest = await follow(http, submission, frame.id)
                assert rest == full[place + 1 :]
            headers = TOKEN | {"Last-Event-ID": str(full[-1].id)}
            done = await http.get(events(submission), headers=headers)
            assert done.status_code == 204  # which tells a browser not to connect again

    run_with_api(database_url, tmp_path, test)


def test_an_id_that_is_not_of_the_newest_judging_starts_at_its_beginning(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        async with served(api) as http, asyncio.timeout(30):
            first = await follow(http, submission)
            await api.http.post(f"/api/submissions/{submission}/rejudge", headers=TOKEN)
            await api.finish(submission)
            for last in [first[3].id, first[-1].id, 0, -1, 2**63, "9" * 5000, "x", "²", ""]:
                with subtests.test(str(last)[:30]):
                    again = await follow(http, submission, last)
                    assert kinds(again) == FULL
                    assert (again[0].id or 0) > (first[-1].id or 0)

    run_with_api(database_url, tmp_path, test)


def test_events_that_were_deleted_are_made_again_from_the_result(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        result = await api.finish(submission)
        with psycopg.connect(plain_url(database_url)) as connection:
            connection.execute("DELETE FROM events")
        async with served(api) as http, asyncio.timeout(20):
            frames = await follow(http, submission, 3)
        assert kinds(frames) == FULL[2:]
        assert json.loads(frames[-1].data)["verdict"] == result.verdict
        assert {frame.id for frame in frames} == {None}

    run_with_api(database_url, tmp_path, test)


def test_a_waiting_submission_hears_its_position(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await api.submit(OTHER)
        submission = await api.submit()
        async with (
            served(api) as http,
            asyncio.timeout(20),
            http.stream("GET", events(submission), headers=TOKEN) as response,
        ):
            async for frame in read(response):
                if frame.kind == "position":
                    assert frame == Frame("position", None, '{"ahead":1}')
                    break

    run_with_api(database_url, tmp_path, test)


def test_an_open_stream_ends_when_the_server_stops(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        async with served(api) as http, asyncio.timeout(20):
            following = asyncio.create_task(follow(http, submission))
            await asyncio.sleep(0.5)
            asked_s = time.monotonic()
            api.parts.stopping.set()
            api.parts.doorbell.ring_all()
            assert kinds(await following) == ["queued"]
            assert time.monotonic() - asked_s < stream.POLL_S

    run_with_api(database_url, tmp_path, test)


def test_one_student_has_so_many_streams_and_others_theirs(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        mine, theirs = await api.submit(), await api.submit(OTHER)
        async with served(api) as http, asyncio.timeout(60), AsyncExitStack() as opened:

            async def asked(submission: str, who: dict[str, str]) -> httpx.Response:
                request = http.build_request("GET", events(submission), headers=who)
                response = await http.send(request, stream=True)
                opened.push_async_callback(response.aclose)
                return response

            first, *others = [await asked(mine, TOKEN) for _ in range(SEATS)]
            assert {response.status_code for response in (first, *others)} == {200}
            refused = await asked(mine, TOKEN)
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "5"
            assert (await refused.aread()).decode().count("too-many-streams") == 1
            assert (await asked(theirs, OTHER)).status_code == 200
            await first.aclose()
            while (again := await asked(mine, TOKEN)).status_code == 429:
                await asyncio.sleep(0.05)
            assert again.status_code == 200
        assert not api.parts.seats._taken

    run_with_api(database_url, tmp_path, test)


def test_a_client_that_went_away_is_not_waited_for(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        async with served(api) as http, asyncio.timeout(20):
            for _ in range(20):
                async with http.stream("GET", events(submission), headers=TOKEN) as response:
                    await anext(read(response))
            bells = api.parts.doorbell._bells
            while bells:  # nothing announces it
                await asyncio.sleep(0.05)

    run_with_api(database_url, tmp_path, test)


def test_a_stream_outlives_the_database_going_away(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        async with served(api) as http, asyncio.timeout(30):
            following = asyncio.create_task(follow(http, submission))
            await asyncio.sleep(0.5)
            with psycopg.connect(plain_url(database_url), autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
            await asyncio.sleep(1.5)
            while not following.done():
                try:
                    await api.finish(submission)
                    break
                except Exception:  # noqa: BLE001  # a broken pooled connection: the next one works
                    await asyncio.sleep(0.1)
            assert kinds(await following)[-1] == "finished"

    run_with_api(database_url, tmp_path, test)


def test_a_lost_attempt_is_followed_by_the_next_one(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        lost = await api.claim(submission)
        assert await api.store.append(lost, list(replay(judged(lost, Verdict.WA)))[:2])
        await api.finish(submission)
        async with served(api) as http, asyncio.timeout(20):
            frames = await follow(http, submission)
        assert kinds(frames) == [
            "queued", "started", "tier_started", "check_finished", "restarted", *FULL[1:],
        ]  # fmt: skip

    run_with_api(database_url, tmp_path, test)


def test_slow_readers_hold_nobody_up(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        async with served(api) as http, asyncio.timeout(30):
            slow = [
                await http.send(
                    http.build_request("GET", events(submission), headers=TOKEN), stream=True
                )
                for _ in range(SEATS - 1)
            ]
            assert kinds(await follow(http, submission)) == FULL
            for response in slow:
                await response.aclose()

    run_with_api(database_url, tmp_path, test)
