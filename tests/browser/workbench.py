"""The page as whoever uses it names its parts: by what they are called, never by how they look."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from judge.problem import load_problem

SLUG = "multi-head-attention"
PROBLEM = load_problem(Path(__file__).parents[2] / "problems" / SLUG)
TITLE = PROBLEM.manifest.title
REFERENCE = PROBLEM.reference.decode()
TIERS = [f"{tier.id} {tier.title}" for tier in PROBLEM.tiers]
JUDGED_MS = 90_000  # to judge what takes its time, on a machine with other work


def row_of_exercise(page: Page) -> Locator:
    """The exercise in the catalogue, where others have longer names that begin as its does."""
    link = page.get_by_role("link", name=TITLE, exact=True)
    return page.get_by_role("listitem").filter(has=link)


@dataclass(frozen=True)
class Workbench:
    """The page of the exercise."""

    page: Page

    @property
    def editor(self) -> Locator:
        return self.tab_of_editor("solution.py")

    def tab_of_editor(self, name: str) -> Locator:
        return self.page.get_by_role("textbox", name=name)

    @property
    def results(self) -> Locator:
        return self.page.get_by_role("region", name="Results").last

    @property
    def verdict(self) -> Locator:
        return self.results.locator("header")

    @property
    def printed(self) -> Locator:
        return self.results.get_by_role("region", name="Printed output")

    def open(self, query: str = "") -> Workbench:
        """Go there, and wait until one can type, or go to the code on a narrow page."""
        self.page.goto(f"/problems/{SLUG}{query}")
        code = self.page.get_by_role("tab", name="Code", exact=True)
        expect(self.editor.or_(code)).to_be_visible()
        return self

    def show(self, pane: str) -> None:
        """On a narrow page one pane is shown at a time."""
        panes = self.page.get_by_role("tablist", name="Panes")
        if panes.is_visible():
            panes.get_by_role("tab", name=pane).click()

    def write(self, source: str, tab: str = "solution.py") -> None:
        """Replace what stands in the editor."""
        self.tab_of_editor(tab).click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self) -> None:
        self.page.get_by_role("button", name="Run", exact=False).first.click()

    def submit(self) -> None:
        self.page.get_by_role("button", name="Submit").first.click()

    def read(self, tab: str) -> Locator:
        """Open a tab beside the editor; its panel."""
        self.page.get_by_role("tab", name=tab, exact=True).first.click()
        return self.page.get_by_role("tabpanel", name=tab, exact=True).first

    def open_file(self, name: str) -> Locator:
        """Open a tab of the editor."""
        files = self.page.get_by_role("tablist", name="Files")
        files.get_by_role("tab", name=name).click()
        return self.tab_of_editor(name)

    def tile(self, tier: str) -> Locator:
        return self.results.get_by_role("tab", name=tier)

    def require_verdict(self, words: str) -> None:
        expect(self.verdict).to_contain_text(words, timeout=JUDGED_MS)

    def require_passed(self) -> None:
        """Accepted, tier by tier."""
        self.require_verdict("Accepted")
        for tier in TIERS:
            expect(self.tile(tier)).to_contain_text("passed")

    def require_text(self, source: str) -> None:
        """What stands in the editor, as far as it is scrolled into sight."""
        expect(self.editor).to_contain_text(source)

    def require_kept(self) -> None:
        """What was typed is kept in the browser."""
        expect(self.page.get_by_text("saved ")).to_be_visible()
