"""The built page: its files and the addresses that it draws."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge.service.api import create_app
from judge.service.errors import MEDIA_TYPE
from judge.service.identity import COOKIE
from judge.service.page import POLICY, Page
from tests.service.serving import PAGE, REMOTE, Api, run_with_api

ASSET = "/assets/index-Ab12.js"
PLAIN = PAGE["assets/index-Ab12.js"]


def test_each_place_of_the_page_is_its_index(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    places = {
        "/": 200, "/?track=papers": 200, "/tracks/papers": 200, "/problems/double": 200,
        "/problems/double?tab=history": 200, "/tracks/none": 404, "/problems/triple": 404,
        "/problems/%00": 404,
    }  # fmt: skip

    async def test(api: Api) -> None:
        for place, status in places.items():
            with subtests.test(place):
                answer = await api.http.get(place)
                assert answer.status_code == status
                assert answer.content == PAGE["index.html"]
                assert answer.headers["content-type"] == "text/html; charset=utf-8"
                assert answer.headers["content-security-policy"] == POLICY
                assert answer.headers["cache-control"] == "no-cache"
                assert answer.headers["x-content-type-options"] == "nosniff"

    run_with_api(database_url, tmp_path, test)


def test_files_have_their_types_and_how_long_they_keep(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for_ever = "public, max-age=31536000, immutable"
    files = {
        "/theme.js": ("text/javascript; charset=utf-8", "no-cache"),
        ASSET: ("text/javascript; charset=utf-8", for_ever),
        "/assets/ruff-Cd34.wasm": ("application/wasm", for_ever),
        "/assets/text-Ef56.woff2": ("font/woff2", for_ever),
        "/assets/strange.xyz": ("application/octet-stream", for_ever),
    }

    async def test(api: Api) -> None:
        for address, (kind, keeping) in files.items():
            with subtests.test(address):
                answer = await api.http.get(address, headers={"Accept-Encoding": "identity"})
                assert answer.status_code == 200
                assert answer.content == PAGE[address[1:]]
                assert answer.headers["content-type"] == kind
                assert answer.headers["cache-control"] == keeping
                assert (
                    "script-src 'self' 'wasm-unsafe-eval'"
                    in (answer.headers["content-security-policy"])
                )
                assert "set-cookie" not in answer.headers

    run_with_api(database_url, tmp_path, test)


def test_the_best_encoding_that_is_taken_is_sent(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    sent = {
        "gzip, deflate, br, zstd": "br", "gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip",
        "GZIP": "gzip", "*": "br", "*;q=0": "", "identity": "", "": "", "br;q=x": "", "deflate": "",
    }  # fmt: skip
    bodies = {"br": PAGE["assets/index-Ab12.js.br"], "gzip": PAGE["assets/index-Ab12.js.gz"]}
    bodies[""] = PLAIN

    async def test(api: Api) -> None:
        for accepted, encoding in sent.items():
            with subtests.test(accepted):
                request = api.http.stream("GET", ASSET, headers={"Accept-Encoding": accepted})
                async with request as answer:
                    body = b"".join([part async for part in answer.aiter_raw()])
                assert answer.headers.get("content-encoding", "") == encoding
                assert answer.headers["vary"] == "Accept-Encoding"
                assert (
                    body
                    == {"br": b"as brotli", "gzip": PAGE["assets/index-Ab12.js.gz"], "": PLAIN}[
                        encoding
                    ]
                )
        assert "vary" not in (await api.http.get("/theme.js")).headers

    run_with_api(database_url, tmp_path, test)


def test_what_a_browser_has_already_is_not_sent_again(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        first = await api.http.get("/theme.js")
        etag = first.headers["etag"]
        for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
            again = await api.http.get("/theme.js", headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == etag
            assert again.headers["cache-control"] == "no-cache"
        other = await api.http.get("/theme.js", headers={"If-None-Match": '"other"'})
        assert other.status_code == 200
        encoded = await api.http.head(ASSET, headers={"Accept-Encoding": "gzip"})
        plain = await api.http.head(ASSET, headers={"Accept-Encoding": "identity"})
        assert encoded.headers["etag"] != plain.headers["etag"]
        missing = await api.http.get("/problems/triple", headers={"If-None-Match": "*"})
        assert missing.status_code == 404

    run_with_api(database_url, tmp_path, test)


def test_a_head_has_everything_but_the_body(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        for address in ("/", "/problems/double", "/theme.js"):
            whole, head = await api.http.get(address), await api.http.head(address)
            assert head.status_code == 200
            assert head.headers["content-length"] == str(len(whole.content))
            assert head.headers["etag"] == whole.headers["etag"]

    run_with_api(database_url, tmp_path, test)


def test_nothing_else_is_served_as_a_file(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        (tmp_path.with_name(f"{tmp_path.name}-page") / "late.js").write_text("late")
        for address in (
            "/late.js", "/assets/", "/assets", "/assets/..%2findex.html", "/assets/%2e%2e/theme.js",
            "/..%2f..%2fetc%2fpasswd", "/assets/index-Ab12.js.br", "/assets//theme.js", "/%00",
            "/index.htm", "/api", "/api/", "/api/nothing", "/problems/", "/problems/double/x",
            "/problems/..%2fassets",
        ):  # fmt: skip
            with subtests.test(address):
                answer = await api.http.get(address)
                assert answer.status_code == 404
                assert answer.headers["content-type"] == MEDIA_TYPE

    run_with_api(database_url, tmp_path, test)


def test_a_browser_is_shown_the_page_where_there_is_nothing(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    shown = ("/nothing", "/nothing/here", "/problems/", "/problems/double/x", "/apis", "/assets/x")
    refused = ("/api", "/api/", "/api/nothing", "/api/problems/triple")

    async def test(api: Api) -> None:
        for address in shown:
            with subtests.test(address):
                answer = await api.http.get(address, headers=browser)
                assert answer.status_code == 404
                assert answer.content == PAGE["index.html"]
                assert answer.headers["content-type"] == "text/html; charset=utf-8"
                assert answer.headers["content-security-policy"] == POLICY
                assert "Accept" in answer.headers["vary"].split(", ")
        for address in refused:
            with subtests.test(address):
                answer = await api.http.get(address, headers=browser)
                assert answer.status_code == 404
                assert answer.headers["content-type"] == MEDIA_TYPE
        posted = await api.http.post("/nothing/here", headers=browser)
        assert (posted.status_code, posted.headers["content-type"]) == (404, MEDIA_TYPE)

    run_with_api(database_url, tmp_path, test)


def test_the_page_is_only_read(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        for address in ("/", "/problems/double", "/theme.js", ASSET):
            answer = await api.http.post(address)
            assert answer.status_code == 405
            assert answer.headers["content-type"] == MEDIA_TYPE
            assert "GET" in answer.headers["allow"]

    run_with_api(database_url, tmp_path, test)


def test_places_hand_out_a_cookie_and_files_do_not(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        for address in ("/", "/problems/double", "/tracks/none"):
            async with api.client(REMOTE) as client:
                assert COOKIE in (await client.get(address)).cookies
        async with api.client(REMOTE) as client:
            assert not (await client.get(ASSET)).cookies

    run_with_api(database_url, tmp_path, test)


def test_where_no_page_was_built_a_sentence_says_how(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        app = create_app(replace(api.parts, page=Page.read(tmp_path / "nowhere")))
        bare = replace(api, app=app)
        async with bare.client() as client:
            answer = await client.get("/")
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert "npm run build" in answer.text
            assert (await client.get("/theme.js")).status_code == 404
            nothing = await client.get("/nothing/here", headers={"Accept": "text/html"})
            assert nothing.headers["content-type"] == MEDIA_TYPE
            assert (await client.get("/api/problems")).status_code == 200

    run_with_api(database_url, tmp_path, test)
