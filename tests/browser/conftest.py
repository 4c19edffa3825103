"""A real browser on a real judge: the page, the embedded database, boxes of bubblewrap.

All stories share both. They do not see each other: each is told by a student of its own, in a
profile of its own. A page watches itself: what the browser complains of (errors, refused sources,
requests that go elsewhere) fails the test, unless the test says that it expects it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from judge.client import Client
from judge.service.identity import COOKIE
from judge.service.page import INDEX, page_folder
from tests.browser.accessible import DESK, PHONE
from tests.browser.submissions import KNOWN
from tests.browser.workbench import SLUG
from tests.service.judge_process import Running

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--no-sandbox",  # it is root's, and shows nothing but our own page
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
)
PATIENCE_MS = 60_000  # of one expectation; the machine may judge something else meanwhile
WARM_S = 300.0
ASK_S = 0.25
ROOT = Path(__file__).parents[2]


@dataclass
class Watch:
    """What the browser complained of, and what a test expects it to."""

    origin: str
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Complaints like this one are part of the test."""
        self.expected.append(pattern)

    def look_at(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", self._requested)

    def unexpected(self) -> list[str]:
        return [
            complaint
            for complaint in self.complaints
            if not any(re.search(pattern, complaint) for pattern in self.expected)
        ]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _requested(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme != "data" and address.netloc != urlsplit(self.origin).netloc:
            self.complaints.append(f"elsewhere: {request.url}")


@dataclass
class Desk:
    """Opens pages, each for a student of its own unless they share a context."""

    browser: Browser
    origin: str
    watch: Watch
    contexts: list[BrowserContext] = field(default_factory=list)

    def context(self, student: str = "", **options: Any) -> BrowserContext:
        """A fresh browser profile without drafts; of a student nobody has seen before, or this."""
        context = self.browser.new_context(
            base_url=self.origin,
            locale="en-GB",
            **{"color_scheme": "light", "viewport": DESK, **options},
        )
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies(
            [{"name": COOKIE, "value": student or new_student(), "url": self.origin}]
        )
        self.contexts.append(context)
        return context

    def page(self, context: BrowserContext | None = None, **options: Any) -> Page:
        """A page that is watched."""
        page = (context or self.context(**options)).new_page()
        self.watch.look_at(page)
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@dataclass(frozen=True)
class Solver:
    """A student who has submitted all that is `KNOWN`: ids of what was judged, by their names."""

    student: str
    submissions: dict[str, str]


def new_student() -> str:
    """What a student is known by, in a cookie or as a token."""
    return token_hex(24)


def wait_until_warm(server: Running) -> None:
    """Until it can judge, and has read the checks of all exercises.

    It is asked only now and then: to answer takes the time that the boxes need.
    """

    def is_ready() -> bool:
        time.sleep(ASK_S)
        events = Counter(str(record["event"]) for record in server.records())
        return client.ready() and events["prepared"] >= events["problem loaded"]

    with Client(server.address) as client:
        server.wait_for(is_ready, WARM_S)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of all stories. It ends with them: other tests run event loops of their own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs browser: no Chromium here, scripts/install-browser.sh installs one")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def judge_url() -> Iterator[str]:
    """A judge that serves the repository's exercises, with warm boxes."""
    assert (page_folder() / INDEX).exists(), "the page is not built: run `make setup`"
    folder = Path(tempfile.mkdtemp(prefix="judge-p-", dir="/tmp"))
    folder.chmod(0o755)  # the database's user must be able to reach it
    (folder / "tmp").mkdir()
    settings = {
        "JUDGE_DATA": str(folder / "data"),
        "JUDGE_PROBLEMS": str(ROOT / "problems"),
        "JUDGE_SANDBOX": "bwrap",
        "JUDGE_SLOTS": "1",  # a story is told at a time
        "JUDGE_LOG": "json",
        "TMPDIR": str(folder / "tmp"),
    }
    try:
        with Running(("serve", "--port", "0"), folder / "log", settings) as server:
            wait_until_warm(server)
            yield server.address
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="package")
def solver(judge_url: str) -> Solver:
    """A student with a history. Stories read it, and submit nothing more in this name."""
    student = new_student()
    with Client(judge_url, student) as client:
        submissions = {
            name: client.submit(SLUG, {"solution.py": source.encode()})
            for name, (source, _verdict) in KNOWN.items()
        }
        for name, submission in submissions.items():
            for _event in client.follow(submission):
                pass
            assert client.result(submission).verdict == KNOWN[name][1]
    return Solver(student, submissions)


@pytest.fixture
def watch(judge_url: str) -> Watch:
    """What the pages of a test complain of; to say what is expected."""
    return Watch(judge_url)


@pytest.fixture
def desk(browser: Browser, judge_url: str, watch: Watch) -> Iterator[Desk]:
    """To open more than one page."""
    made = Desk(browser, judge_url, watch)
    yield made
    made.close()
    assert watch.unexpected() == []


@pytest.fixture
def page(desk: Desk) -> Page:
    """A page as wide as a desk."""
    return desk.page()


@pytest.fixture
def phone(desk: Desk) -> Page:
    """A page as narrow as a phone, to be touched."""
    return desk.page(viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)


@pytest.fixture
def solved(desk: Desk, solver: Solver) -> Page:
    """A page of the student who has solved the exercise."""
    return desk.page(student=solver.student, reduced_motion="reduce")
