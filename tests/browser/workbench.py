"""The page as whoever uses it names its parts: by what they are called, never by how they look."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from judge.problem import load_problem

SLUG = "multi-head-attention"
PROBLEM = load_problem(Path(__file__).parents[2] / "problems" / SLUG)
REFERENCE = PROBLEM.reference.decode()
TIERS = [f"{tier.id} {tier.title}" for tier in PROBLEM.tiers]
JUDGED_MS = 60_000  # to judge what takes its time, on a machine with other work


def mutated(name: str) -> str:
    """The reference with one known mistake."""
    mutant = next(each for each in PROBLEM.mutants if each.id == name)
    return PROBLEM.mutate(mutant).decode()


def hint_of(name: str) -> str:
    """What the page says to whoever made it; without the marks of code, which are drawn."""
    return next(each.hint for each in PROBLEM.mutants if each.id == name).replace("`", "")


@dataclass(frozen=True)
class Workbench:
    """The page of the exercise."""

    page: Page

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("textbox", name="solution.py")

    @property
    def results(self) -> Locator:
        return self.page.get_by_role("region", name="Results").last

    @property
    def verdict(self) -> Locator:
        return self.results.get_by_role("banner").or_(self.results.locator("header"))

    def open(self, query: str = "") -> Workbench:
        """Go there, and wait until one can type."""
        self.page.goto(f"/problems/{SLUG}{query}")
        expect(self.editor).to_be_visible()
        return self

    def write(self, source: str) -> None:
        """Replace what stands in the editor."""
        self.editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self) -> None:
        self.page.get_by_role("button", name="Run").first.click()

    def submit(self) -> None:
        self.page.get_by_role("button", name="Submit").first.click()

    def read(self, tab: str) -> Locator:
        """Open a tab beside the editor; its panel."""
        self.page.get_by_role("tab", name=tab, exact=True).first.click()
        return self.page.get_by_role("tabpanel", name=tab, exact=True)

    def tile(self, tier: str) -> Locator:
        return self.results.get_by_role("tab", name=tier)

    def require_verdict(self, words: str) -> None:
        expect(self.verdict).to_contain_text(words, timeout=JUDGED_MS)

    def require_text(self, source: str) -> None:
        """What stands in the editor, as far as it is scrolled into sight."""
        expect(self.editor).to_contain_text(source)
