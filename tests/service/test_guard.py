from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from judge.service.guard import BODY_LIMIT_BYTES, Authority, Guard

JSON = {"Content-Type": "application/json"}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the size of the body."""
    body = await Request(scope, receive).body()
    await Response(str(len(body)))(scope, receive, send)


def ask(
    method: str = "GET",
    address: str = "http://127.0.0.1:8000/",
    headers: dict[str, str] | None = None,
    content: Any = None,
) -> httpx.Response:
    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(Guard(echo, ["Judge.Example"]))
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.request(method, address, headers=headers, content=content)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "[::1]:8000", "192.0.2.7", "localhost", "LOCALHOST:1", "judge.localhost",
     "judge.example:443", "judge.example."],
)  # fmt: skip
def test_our_own_names_are_answered(host: str) -> None:
    assert ask(headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["attacker.example", "127.0.0.1.attacker.example", "localhost.attacker.example",
     "notjudge.example", "judge.example.attacker.example", "127.0.0.1@attacker.example", "[::1",
     "localhost:x", ""],
)  # fmt: skip
def test_a_name_that_was_made_to_point_here_is_refused(host: str) -> None:
    answer = ask(headers={"Host": host})
    assert answer.status_code == 421
    assert answer.headers["content-type"] == "application/problem+json"
    assert "JUDGE_ALLOWED_HOSTS" in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_what_another_site_sends_is_refused(headers: dict[str, str]) -> None:
    answer = ask("POST", headers=JSON | headers, content=b"{}")
    assert answer.status_code == 403
    assert answer.json()["type"] == "urn:judge:cross-site"


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://127.0.0.1:8000"}, {"Origin": "https://127.0.0.1:8000"},
     {"Sec-Fetch-Site": "same-origin"}],
)  # fmt: skip
def test_what_our_own_page_or_a_program_sends_is_taken(headers: dict[str, str]) -> None:
    assert ask("POST", headers=JSON | headers, content=b"{}").text == "2"


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x",
     "application/jsonx"],
)  # fmt: skip
def test_what_a_form_can_send_is_refused(content_type: str) -> None:
    for content in (b"{}", b""):
        answer = ask("POST", headers={"Content-Type": content_type}, content=content)
        assert answer.status_code == 415
        assert "application/json" in answer.json()["detail"]


def test_a_body_without_a_type_is_refused_and_no_body_needs_none() -> None:
    assert ask("POST", content=b"{}").status_code == 415
    assert ask("POST").status_code == 200
    assert ask("POST", headers={"Content-Type": "application/json; charset=utf-8"}).text == "0"


def test_a_body_at_the_bound_is_taken_and_one_byte_more_is_not() -> None:
    assert ask("POST", headers=JSON, content=b"x" * BODY_LIMIT_BYTES).status_code == 200
    answer = ask("POST", headers=JSON, content=b"x" * (BODY_LIMIT_BYTES + 1))
    assert answer.status_code == 413
    assert "256 KiB" in answer.json()["detail"]


def test_a_body_of_unknown_length_is_read_no_further_than_the_bound() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 4096

    answer = ask("POST", headers=JSON, content=endless())
    assert answer.status_code == 413
    assert sent * 4096 <= BODY_LIMIT_BYTES + 2 * 4096


@pytest.mark.parametrize("length", ["-1", "+5", "1e3", "x", "99999999999999999999"])
def test_a_length_that_is_none_is_refused(length: str) -> None:
    headers = JSON | {"Content-Length": length}
    assert ask("POST", headers=headers, content=b"{}").status_code == 413


@pytest.mark.parametrize("host", ["127.0.0.1", "attacker.example"])
def test_every_answer_keeps_a_browser_from_guessing_and_embedding(host: str) -> None:
    headers = ask(headers={"Host": host}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [("127.9.9.9:1", True), ("[::1]", True), ("x.localhost", True), ("10.0.0.1", False),
     ("localhost.example", False)],
)  # fmt: skip
def test_loopback_names_are_told_from_others(text: str, *, loopback: bool) -> None:
    authority = Authority.parse(text)
    assert authority is not None
    assert authority.is_loopback is loopback
