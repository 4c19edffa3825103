"""`judge dev` in a browser: what is saved is shown, what is wrong is told, what was proven is seen.

The proof is told by a stand-in; folder, worker, boxes and page are real.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.accessible import require_accessible, widths
from tests.browser.conftest import Desk, Watch, wait_until_warm
from tests.service.judge_process import Running
from tests.small_problem import FILES, MANIFEST, write_problem

SLUG = "double"
PROCESS = "tests.browser.author_process"
EDITED = "def double(x):\n    return x + x  # mine\n"


@dataclass
class Written:
    """A folder that is written while a judge shows it."""

    folder: Path
    server: Running

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def restore(self) -> None:
        """The folder as it was."""
        write_problem(self.folder.parent)
        (self.folder.parent / "tracks.toml").write_text("")


@pytest.fixture(scope="module")
def written() -> Iterator[Written]:
    """The small problem, and what shows it to its author."""
    home = Path(tempfile.mkdtemp(prefix="judge-a-", dir="/tmp"))
    home.chmod(0o755)  # the database's user must be able to reach it
    (home / "tmp").mkdir()
    folder = write_problem(home / "problems")
    settings = {
        "JUDGE_PROBLEMS": str(folder.parent),
        "JUDGE_SANDBOX": "bwrap",
        "JUDGE_SLOTS": "1",
        "JUDGE_LOG": "json",
        "TMPDIR": str(home / "tmp"),
    }
    try:
        with Running((SLUG,), home / "log", settings, module=PROCESS) as server:
            wait_until_warm(server)
            yield Written(folder, server)
        assert not list((home / "tmp").iterdir())  # a preview leaves nothing behind
    finally:
        shutil.rmtree(home)


@pytest.fixture
def author(browser: Browser, written: Written) -> Iterator[Desk]:
    """To open pages of the preview, of the folder as it was at first."""
    written.restore()
    desk = Desk(browser, written.server.address, Watch(written.server.address))
    yield desk
    desk.close()
    written.restore()
    assert desk.watch.unexpected() == []


def opened(desk: Desk, **options: Any) -> Page:
    """The page, once its proof is complete."""
    page = desk.page(**options)
    page.goto(f"/problems/{SLUG}")
    expect(bar(page)).to_contain_text("2 of 4 claims failed")
    return page


def bar(page: Page) -> Locator:
    return page.get_by_role("region", name="Author")


def faults(page: Page) -> Locator:
    return bar(page).get_by_role("group", name="Faults")


def test_what_is_saved_is_shown_and_the_editor_is_left_alone(
    author: Desk, written: Written
) -> None:
    page = opened(author)
    page.get_by_role("tab", name="scratch").click()
    page.get_by_role("textbox", name="scratch").fill("print(1)")
    page.get_by_role("tab", name="solution.py").click()
    page.get_by_role("textbox", name="solution.py").fill(EDITED)
    page.get_by_role("tab", name="scratch").click()
    began = time.monotonic()
    written.write("statement.md", "# Doubling\n\nNobody has read these words before.\n")
    expect(page.get_by_text("Nobody has read these words before.")).to_be_visible()
    print(f"shown {time.monotonic() - began:.2f} s after it was saved")
    expect(page.get_by_role("textbox", name="scratch")).to_contain_text("print(1)")
    # So are text and tab when the starter is another one.
    written.write("starter.py", "def double(x):\n    raise NotImplementedError\n")
    expect(page.get_by_text("The exercise has changed since this draft.")).to_be_visible()
    expect(page.get_by_role("tab", name="scratch")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="solution.py").click()
    expect(page.get_by_role("textbox", name="solution.py")).to_contain_text("# mine")
    # And a check is listed as it is now once it was read.
    oracle = "checks/test_t1_oracle.py"
    written.write(oracle, FILES[oracle].replace("Every entry is doubled.", "Twice, everywhere."))
    page.get_by_text("The numbers are right.").click()
    expect(page.get_by_text("Twice, everywhere.")).to_be_visible()


def test_faults_stand_above_the_last_good_version_until_they_are_mended(
    author: Desk, written: Written
) -> None:
    page = opened(author, reduced_motion="reduce")
    written.write("problem.toml", MANIFEST.replace("summary =", "sumary ="))
    expect(faults(page)).to_contain_text("double/problem.toml:5")
    expect(faults(page)).to_contain_text("write summary if that was meant")
    expect(page.get_by_role("heading", name="Doubling", level=1).first).to_be_visible()
    require_accessible(page, "faults")
    written.write("problem.toml", MANIFEST)
    expect(faults(page)).to_have_count(0)
    # So are checks that cannot be collected.
    oracle = "checks/test_t1_oracle.py"
    written.write(oracle, "import no_such_module\n" + FILES[oracle])
    expect(faults(page)).to_contain_text(f"double/{oracle}:1")
    expect(faults(page)).to_contain_text("no_such_module")
    written.write(oracle, FILES[oracle])
    expect(faults(page)).to_have_count(0)


def test_the_panel_shows_what_was_proven(author: Desk) -> None:
    page = opened(author, reduced_motion="reduce")
    bar(page).get_by_role("button", name="Show proof").click()
    panel = page.get_by_role("tabpanel", name="Author", exact=True)
    matrix = panel.get_by_role("table", name="Which check rejects which mutant")
    expect(matrix.get_by_role("row", name="tripled")).to_contain_text("rejected")
    expect(matrix.get_by_role("row", name="halved")).to_contain_text("No check notices it")
    expect(panel.get_by_role("region", name="Claims")).to_contain_text("double/mutants.toml:1")
    expect(panel.get_by_role("region", name="Statement and sources")).to_contain_text(
        "does not name x"
    )
    expect(panel.get_by_role("region", name="Made mutants")).to_contain_text("2 * abs(x)")
    headroom = panel.get_by_role("region", name="Headroom")
    expect(headroom).to_contain_text("the reference is close to the limit")
    for summary in panel.locator("summary").all():
        summary.click()
    for _ in widths(page, "Statement"):
        expect(panel.get_by_role("region", name="Times")).to_contain_text("values")
        require_accessible(page, "author")


def test_a_judge_for_students_has_no_such_tab(page: Page) -> None:
    page.goto("/problems/multi-head-attention?tab=author")
    expect(page.get_by_role("tab", name="History")).to_be_visible()
    expect(page.get_by_role("tab", name="Statement").first).to_have_attribute(
        "aria-selected", "true"
    )
    expect(page.get_by_role("tab", name="Author")).to_have_count(0)
    expect(bar(page)).to_have_count(0)
