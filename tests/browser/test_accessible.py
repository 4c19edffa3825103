"""Whoever sees, hears or types differently: axe on every screen, phones, the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessible import (
    PHONE,
    require_accessible,
    require_no_sideways_scrolling,
    violations,
    widths,
)
from tests.browser.conftest import Watch
from tests.browser.submissions import WRONG_SCALE, mutated
from tests.browser.workbench import REFERENCE, SLUG, TITLE, Workbench

# The statement is a screen of its own, and the longest: others are looked at beside what is short.
BESIDE_HISTORY = "?tab=history"
# A page without a language, with a formula that is black in either theme, and with a field that
# has no label, in a hidden panel.
SPOIL = """
() => {
  document.documentElement.removeAttribute("lang");
  document.querySelector("main").insertAdjacentHTML(
    "beforeend",
    `<div id="spoiled"><p class="katex"><b>E</b> = <b>mc</b></p>
    <div role="tabpanel" hidden><input>nothing</div></div>`.replace(/\\n */, ""),
  );
  document.querySelector(".katex").style.color = "black";
}
"""
# Presses Ctrl+Enter and "g c" in the very task that puts the editor into the page: nobody can be
# faster.
TYPE_AT_ONCE = """
new MutationObserver((_changes, observer) => {
  if (!document.querySelector('[role="textbox"][contenteditable="true"]')) return;
  observer.disconnect();
  for (const pressed of [{ key: "Enter", ctrlKey: true }, { key: "g" }, { key: "c" }]) {
    const event = new KeyboardEvent("keydown", { ...pressed, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  }
}).observe(document, { childList: true, subtree: true, attributes: true });
"""

# --- other ways to use it -------------------------------------------------------------------------


def test_on_a_phone_all_is_in_reach_and_nothing_is_cut_off(phone: Page) -> None:
    phone.goto("/")
    require_no_sideways_scrolling(phone)
    phone.get_by_role("link", name=TITLE, exact=True).tap()
    panes = phone.get_by_role("tablist", name="Panes")
    expect(phone.get_by_role("heading", name=TITLE, exact=True, level=1)).to_be_visible()
    require_no_sideways_scrolling(phone)
    bench = Workbench(phone)
    expect(phone.get_by_role("button", name="Submit")).to_be_in_viewport()
    panes.get_by_role("tab", name="Code").tap()
    bench.write(REFERENCE)
    require_no_sideways_scrolling(phone)
    phone.get_by_role("button", name="Submit").first.tap()
    bench.require_passed()
    require_no_sideways_scrolling(phone)
    panes.get_by_role("tab", name="Statement").tap()
    expect(bench.read("History")).to_contain_text("Accepted")
    require_no_sideways_scrolling(phone)
    expect(phone.get_by_role("button", name="Submit")).to_be_in_viewport()


def test_everything_can_be_done_by_keyboard(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    tab_to(page, lambda: has_focus(page, TITLE))
    page.keyboard.press("Enter")
    bench = Workbench(page)
    expect(bench.editor).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(bench.editor).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(mutated(WRONG_SCALE))
    page.keyboard.press("Control+Shift+Enter")
    bench.require_verdict("Rejected at T1 Oracle")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(REFERENCE)
    page.keyboard.press("Control+Enter")
    bench.require_verdict("All examples pass")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(bench.editor).not_to_be_focused()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")
    history = page.get_by_role("tabpanel", name="History").first
    expect(history.get_by_role("listitem")).to_have_count(1)
    tab_to(page, lambda: has_focus(page, "Restore"))
    page.keyboard.press("Enter")
    bench.require_text("def merge_heads")


def test_keys_count_from_the_moment_the_editor_is_there(page: Page) -> None:
    page.add_init_script(TYPE_AT_ONCE)
    page.goto("/")
    page.get_by_role("link", name=TITLE, exact=True).click()
    bench = Workbench(page)
    expect(bench.editor).to_be_focused()
    expect(bench.verdict).to_contain_text("Examples only")


def tab_to(page: Page, is_there: Callable[[], bool]) -> None:
    for _ in range(60):
        if is_there():
            return
        page.keyboard.press("Tab")
    pytest.fail("the Tab key does not lead there")


def has_focus(page: Page, words: str) -> bool:
    return str(page.evaluate("document.activeElement.textContent")).strip() == words


# --- screens, each in both themes, wide and narrow ------------------------------------------------


def test_what_is_wrong_with_a_page_is_found_in_either_theme(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.evaluate(SPOIL)
    found = violations(page)
    assert any(each.startswith("light: html-has-lang") for each in found)
    assert any(each.startswith("dark: color-contrast") and ".katex" in each for each in found)
    assert len(found) == 2  # black letters can be read in the light, what is hidden by nobody
    assert page.evaluate("spoiled.textContent") == "E = mcnothing"
    # Where it is narrow, what it has only there is looked at in either theme.
    page.set_viewport_size(PHONE)
    assert [each.partition(" ")[0] for each in violations(page)] == ["light:"]
    page.evaluate("document.querySelector('header').append('black')")
    page.evaluate("document.querySelector('header').style.color = 'black'")
    assert any(each.startswith("dark: color-contrast") for each in violations(page))


def test_pages_of_the_catalogue_are_accessible(solved: Page, watch: Watch) -> None:
    watch.expect(r"status of 404")
    for path in (
        "/", "/?q=nothing", "/tracks/papers", "/tracks/none", "/problems/none", "/nothing/here",
    ):  # fmt: skip
        solved.goto(path)
        expect(solved.get_by_role("heading", level=1)).to_be_visible()
        expect(solved.get_by_role("main").get_by_role("link").last).to_be_visible()
        for _ in widths(solved):
            require_accessible(solved, path)


def test_what_is_read_is_accessible(solved: Page) -> None:
    solved.goto(f"/problems/{SLUG}")
    expect(solved.get_by_role("heading", name=TITLE, exact=True, level=1)).to_be_visible()
    statement = solved.get_by_role("tabpanel", name="Statement", exact=True).last
    expect(statement.get_by_role("heading", name="Sources")).to_be_attached()
    open_all(statement)
    for _ in widths(solved, "Statement"):
        require_accessible(solved, "statement")
    hints = Workbench(solved).read("Hints")
    hints.get_by_role("button", name="Show hint").click()
    hints.get_by_role("button", name="Read step").click()
    hints.get_by_text("solution.py", exact=True).click()
    for _ in widths(solved, "Statement"):
        require_accessible(solved, "hints")
    solved.keyboard.press("?")
    for _ in widths(solved):
        expect(solved.get_by_role("dialog", name="Keys")).to_be_visible()
        require_accessible(solved, "keys")


def test_history_and_comparison_are_accessible(solved: Page) -> None:
    solved.goto(f"/problems/{SLUG}?tab=history")
    history = Workbench(solved).read("History")
    history.get_by_role("checkbox", name="The reference").check()
    history.get_by_role("checkbox", name="Compare: Wrong answer").check()
    for _ in widths(solved, "Statement"):
        require_accessible(solved, "history")
    history.get_by_role("button", name="Compare", exact=True).click()
    compared = solved.get_by_role("dialog", name="Comparison")
    for _ in widths(solved):
        expect(compared).to_contain_text("attention_kernel")
        require_accessible(solved, "comparison")
    compared.get_by_role("button", name="All lines").click()
    for _ in widths(solved):
        expect(compared).to_contain_text("def split_heads")
        require_accessible(solved, "comparison, all lines")


def test_code_is_accessible(solved: Page) -> None:
    bench = Workbench(solved).open(BESIDE_HISTORY)
    bench.write(f"import os\n{REFERENCE}")
    for _ in widths(solved, "Code"):
        require_accessible(solved, "code")
    provided = bench.open_file("attention_kernel")
    for _ in widths(solved, "Code"):
        expect(provided).to_be_visible()
        require_accessible(solved, "provided code")
    bench.open_file("scratch")
    bench.write('print("text")\nmerge_heads(0)\n', "scratch")
    for _ in widths(solved, "Code"):
        require_accessible(solved, "scratch")
    bench.run()
    bench.require_verdict("Runtime error")
    for _ in widths(solved, "Results"):
        require_accessible(solved, "result of a scratch run")


def test_results_and_their_charts_are_accessible(solved: Page) -> None:
    bench = Workbench(solved).open(BESIDE_HISTORY)
    history = bench.read("History")
    charts = bench.results.get_by_role("figure")
    drawing = charts.first.get_by_role("img").locator("svg")
    for verdict, words in (
        ("Wrong answer", "Rejected at T1 Oracle"),
        ("Runtime error", "Rejected at T0 Interface"),
        ("Accepted", "Accepted"),
    ):
        history.get_by_role("button", name=verdict).first.click()
        bench.require_verdict(words)
        if verdict == "Accepted":
            charts.first.scroll_into_view_if_needed()
            expect(drawing).to_be_visible()
        else:
            open_all(bench.results)
        for _ in widths(solved, "Results"):
            require_accessible(solved, f"results: {verdict}")
    bench.results.get_by_text("Both", exact=True).click()
    for chart in (charts.first, charts.last):
        chart.get_by_role("button", name="Numbers").click()
    for _ in widths(solved, "Results"):
        expect(charts.last.get_by_role("table").last).to_be_visible()
        expect(drawing).to_be_visible()
        require_accessible(solved, "charts: both, and their numbers")


def open_all(part: Locator) -> None:
    """Open whatever can be opened."""
    part.locator("details:not([open]) > summary").evaluate_all(
        "(summaries) => summaries.forEach((each) => each.click())"
    )
