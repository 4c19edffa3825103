"""Whoever sees, hears or types differently: axe on every screen, phones, the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import require_accessible
from tests.browser.conftest import Solver, Watch
from tests.browser.submissions import WRONG_SCALE, mutated
from tests.browser.workbench import REFERENCE, SLUG, TITLE, Workbench

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


def require_no_sideways_scrolling(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


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


@pytest.mark.parametrize(
    "path",
    ["/", "/?q=nothing", "/tracks/papers", "/tracks/none", "/problems/none", "/nothing/here"],
)
def test_pages_of_the_catalogue_are_accessible(sized: Page, watch: Watch, path: str) -> None:
    watch.expect(r"status of 404")
    sized.goto(path)
    expect(sized.get_by_role("heading", level=1)).to_be_visible()
    expect(sized.get_by_role("main").get_by_role("link").last).to_be_visible()
    require_accessible(sized, path)


def test_what_is_read_is_accessible(sized: Page) -> None:
    sized.goto(f"/problems/{SLUG}")
    expect(sized.get_by_role("heading", name=TITLE, exact=True, level=1)).to_be_visible()
    statement = sized.get_by_role("tabpanel", name="Statement", exact=True).last
    expect(statement.get_by_role("heading", name="Sources")).to_be_attached()
    for summary in statement.locator("summary").all():
        summary.click()
    require_accessible(sized, "statement")
    bench = Workbench(sized)
    hints = bench.read("Hints")
    hints.get_by_role("button", name="Show hint").click()
    hints.get_by_role("button", name="Read step").click()
    hints.get_by_text("solution.py", exact=True).click()
    require_accessible(sized, "hints")
    sized.keyboard.press("?")
    expect(sized.get_by_role("dialog", name="Keys")).to_be_visible()
    require_accessible(sized, "keys")
    sized.keyboard.press("Escape")


def test_history_and_comparison_are_accessible(sized: Page) -> None:
    sized.goto(f"/problems/{SLUG}?tab=history")
    history = Workbench(sized).read("History")
    history.get_by_role("checkbox", name="The reference").check()
    history.get_by_role("checkbox", name="Compare: Wrong answer").check()
    require_accessible(sized, "history")
    history.get_by_role("button", name="Compare", exact=True).click()
    compared = sized.get_by_role("dialog", name="Comparison")
    expect(compared).to_contain_text("attention_kernel")
    require_accessible(sized, "comparison")
    compared.get_by_role("button", name="All lines").click()
    expect(compared).to_contain_text("def split_heads")
    require_accessible(sized, "comparison, all lines")


def test_code_is_accessible(sized: Page) -> None:
    bench = Workbench(sized).open()
    bench.show("Code")
    bench.write(f"import os\n{REFERENCE}")
    require_accessible(sized, "code")
    provided = bench.open_file("attention_kernel")
    expect(provided).to_be_visible()
    require_accessible(sized, "provided code")
    bench.open_file("scratch")
    bench.write('print("text")\nmerge_heads(0)\n', "scratch")
    require_accessible(sized, "scratch")
    bench.run()
    bench.require_verdict("Runtime error")
    require_accessible(sized, "result of a scratch run")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong", "Rejected at T1 Oracle"),
        ("raising", "Rejected at T0 Interface"),
        ("endless", "Time limit exceeded"),
    ],
)
def test_results_are_accessible(sized: Page, solver: Solver, name: str, words: str) -> None:
    bench = Workbench(sized).open(f"?submission={solver.submissions[name]}")
    bench.require_verdict(words)
    for summary in bench.results.locator("summary").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    require_accessible(sized, f"results: {name}")


def test_charts_are_accessible(sized: Page, solver: Solver) -> None:
    bench = Workbench(sized).open(f"?submission={solver.submissions['accepted']}")
    bench.require_verdict("Accepted")
    charts = bench.results.get_by_role("figure")
    chart = charts.first.get_by_role("img")
    chart.scroll_into_view_if_needed()
    expect(chart.locator("svg")).to_be_visible()
    require_accessible(sized, "results: accepted")
    bench.results.get_by_text("Both", exact=True).click()
    for numbers in charts.get_by_role("button", name="Numbers").all():
        numbers.click()
    expect(charts.last.get_by_role("table").last).to_be_visible()
    expect(chart.locator("svg")).to_be_visible()
    require_accessible(sized, "charts: both, and their numbers")
