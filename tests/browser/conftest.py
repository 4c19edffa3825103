"""A real browser on a real judge: the page, the embedded database, boxes of bubblewrap.

A page watches itself: what the browser complains of (errors, refused sources, requests that go
elsewhere) fails the test, unless the test says that it expects it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal
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
from tests.service.test_running import Running

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--no-sandbox",  # it is root's, and shows nothing but our own page
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
)
PATIENCE_MS = 20_000  # of one expectation; the machine may judge something else meanwhile
WARM_S = 180.0
ROOT = Path(__file__).parents[2]

Theme = Literal["light", "dark"]


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

    def context(self, **options: Any) -> BrowserContext:
        """A fresh browser profile: a student nobody has seen before, and no drafts."""
        context = self.browser.new_context(
            base_url=self.origin, locale="en-GB", **{"color_scheme": "light", **options}
        )
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies([{"name": COOKIE, "value": token_hex(24), "url": self.origin}])
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of a module. It ends with it: other tests run event loops of their own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs browser: no Chromium here, scripts/install-browser.sh installs one")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
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
        "JUDGE_LOG": "json",
        "TMPDIR": str(folder / "tmp"),
    }
    try:
        with Running(("serve", "--port", "0"), folder / "log", settings) as server:
            with Client(server.address) as client:
                server.wait_for(client.ready, WARM_S)
            yield server.address
    finally:
        shutil.rmtree(folder)


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
    return desk.page(viewport={"width": 1440, "height": 900})


@pytest.fixture
def phone(desk: Desk) -> Page:
    """A page as narrow as a phone, to be touched."""
    return desk.page(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True,
        device_scale_factor=2,
    )  # fmt: skip


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> Theme:
    """Both themes, one after the other."""
    chosen: Theme = request.param
    return chosen


@pytest.fixture(params=[1440, 390], ids=["desk", "phone"])
def sized(request: pytest.FixtureRequest, desk: Desk, theme: Theme) -> Page:
    """A page in each theme, wide and narrow."""
    size = {"width": request.param, "height": 900}
    return desk.page(viewport=size, color_scheme=theme, reduced_motion="reduce")
