"""Who is taken for whom, and what each may see."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from judge.service.identity import COOKIE
from tests.service.serving import ADDRESS, BODY, LOCAL, OTHER, REMOTE, TOKEN, Api, run_with_api

PUBLIC = "http://judge.example"
ALLOWED = {"allowed_hosts": "judge.example"}


async def submitted(client: httpx.AsyncClient, headers: dict[str, str] | None = None) -> str:
    answer = await client.post("/api/submissions", json=BODY, headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["url"])


async def status(client: httpx.AsyncClient, url: str, headers: dict[str, str] | None = None) -> int:
    return (await client.get(url, headers=headers)).status_code


async def history(client: httpx.AsyncClient, headers: dict[str, str] | None = None) -> int:
    answer = await client.get("/api/submissions", headers=headers)
    return len(answer.json()["submissions"])


def test_a_token_is_a_student(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        url = await submitted(api.http, TOKEN)
        assert await status(api.http, url, TOKEN) == 200
        assert await status(api.http, url, OTHER) == 404
        assert await status(api.http, url) == 404  # the person at the machine is another student
        assert (await history(api.http, TOKEN), await history(api.http, OTHER)) == (1, 0)

    run_with_api(database_url, tmp_path, test)


def test_credentials_of_another_form_are_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for value in ["Bearer short", "Bearer " + "x" * 201, "Basic dXNlcjpwYXNz", "", "Bearer",
                      "Bearer aaaaaaaaaaaaaaaaaaaa b"]:  # fmt: skip
            with subtests.test(value):
                answer = await api.http.get("/api/problems", headers={"Authorization": value})
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert "20 to 200" in answer.json()["detail"]

    run_with_api(database_url, tmp_path, test)


def test_no_secret_is_stored(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        url = await submitted(api.http, TOKEN)
        stored = await api.store.submission(url.rpartition("/")[2])
        assert stored is not None
        assert re.fullmatch("t:[0-9a-f]{32}", stored.student)

    run_with_api(database_url, tmp_path, test)


def test_the_person_at_the_machine_is_one_student_without_a_cookie(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        page = await api.http.get("/")
        assert "set-cookie" not in page.headers
        url = await submitted(api.http)
        for address in (ADDRESS, "http://localhost:8000", "http://[::1]:8000"):
            async with api.client(("::1", 1), address) as client:
                assert await status(client, url) == 200
                assert await history(client) == 1

    run_with_api(database_url, tmp_path, test)


@pytest.mark.parametrize(
    ("peer", "address", "headers", "loopback"),
    [
        (REMOTE, ADDRESS, {}, True),
        (LOCAL, ADDRESS, {"X-Forwarded-For": "127.0.0.1"}, True),
        (LOCAL, ADDRESS, {"Forwarded": "for=127.0.0.1"}, True),
        (LOCAL, ADDRESS, {"Via": "1.1 proxy"}, True),
        (LOCAL, PUBLIC, {}, True),
        (LOCAL, ADDRESS, {}, False),
    ],
    ids=["remote", "x-forwarded", "forwarded", "via", "by-name", "bound-to-all"],
)
def test_whoever_may_be_somewhere_else_is_not_the_person_at_the_machine(
    database_url: str,
    tmp_path: Path,
    *,
    peer: tuple[str, int],
    address: str,
    headers: dict[str, str],
    loopback: bool,
) -> None:
    async def test(api: Api) -> None:
        async with api.client(peer, address) as client:
            answer = await client.get("/api/problems", headers=headers)
            assert COOKIE in answer.headers["set-cookie"]

    run_with_api(database_url, tmp_path, test, loopback=loopback, settings=ALLOWED)


def test_a_browser_is_given_a_cookie_that_only_we_can_read(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        for path in ("/", "/api/problems", "/api/problems/double"):
            async with api.client(REMOTE, "https://judge.example") as client:
                answer = await client.get(path)
                assert answer.headers["cache-control"] == "no-store"
                cookie = answer.headers["set-cookie"]
                for attribute in ("HttpOnly", "SameSite=lax", "Secure", "Path=/"):
                    assert attribute in cookie
                assert len(client.cookies[COOKIE]) >= 32
                assert "set-cookie" not in (await client.get(path)).headers
        async with api.client(REMOTE, PUBLIC) as client:
            assert "Secure" not in (await client.get("/")).headers["set-cookie"]

    run_with_api(database_url, tmp_path, test, loopback=False, settings=ALLOWED)


def test_a_cookie_is_a_student(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        async with api.client(REMOTE, PUBLIC) as mine, api.client(REMOTE, PUBLIC) as other:
            await mine.get("/")
            await other.get("/")
            url = await submitted(mine)
            assert (await status(mine, url), await status(other, url)) == (200, 404)
            assert (await history(mine), await history(other)) == (1, 0)

    run_with_api(database_url, tmp_path, test, loopback=False, settings=ALLOWED)


def test_a_cookie_that_we_cannot_have_given_counts_as_none(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        async with api.client(REMOTE, PUBLIC) as client:
            answer = await client.get("/", headers={"Cookie": f"{COOKIE}=guessable"})
            assert COOKIE in answer.headers["set-cookie"]

    run_with_api(database_url, tmp_path, test, loopback=False, settings=ALLOWED)


def test_without_credentials_a_submission_is_open_to_whoever_knows_its_id(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        elsewhere = ("198.51.100.9", 1)
        async with api.client(REMOTE, PUBLIC) as mine, api.client(elsewhere, PUBLIC) as theirs:
            url = await submitted(mine)
            assert (await status(mine, url), await status(theirs, url)) == (200, 200)
            assert await status(theirs, url, TOKEN) == 404
            assert (await history(mine), await history(theirs)) == (0, 0)
            closed = await submitted(mine, TOKEN)
            assert await status(mine, closed) == 404

    run_with_api(database_url, tmp_path, test, loopback=False, settings=ALLOWED)


def test_one_machines_ipv6_addresses_are_one_student(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        async def student(peer: str) -> str:
            async with api.client((peer, 1), PUBLIC) as client:
                submission = (await submitted(client)).rpartition("/")[2]
            stored = await api.store.submission(submission)
            assert stored is not None
            return stored.student

        one = await student("2001:db8::1")
        assert await student("2001:db8::2%eth0") == one
        assert await student("2001:db8:0:1::1") != one
        assert await student("::ffff:192.0.2.1") == await student("192.0.2.1")
        assert await student("::ffff:192.0.2.2") != await student("192.0.2.1")

    run_with_api(database_url, tmp_path, test, loopback=False, settings=ALLOWED)


# --- other sites ----------------------------------------------------------------------------------


def test_a_rebound_name_reaches_nothing(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        async with api.client(LOCAL, "http://attacker.example:8000") as client:
            for path in ("/", "/api/problems", "/api/submissions", "/openapi.json", "/healthz"):
                assert await status(client, path) == 421

    run_with_api(database_url, tmp_path, test)


def test_another_sites_page_cannot_submit_for_the_person_at_the_machine(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        url = await submitted(api.http)
        await api.finish(url.rpartition("/")[2])
        foreign = {"Origin": "https://attacker.example"}
        sent = await api.http.post("/api/submissions", json=BODY, headers=foreign)
        again = await api.http.post(f"{url}/rejudge", headers=foreign)
        form = await api.http.post(f"{url}/rejudge", data={"a": "b"})
        assert (sent.status_code, again.status_code, form.status_code) == (403, 403, 415)
        assert await history(api.http) == 1
        asked = await api.http.options("/api/submissions", headers=foreign)
        assert not any(name.startswith("access-control") for name in asked.headers)

    run_with_api(database_url, tmp_path, test)
