"""What a student does from the first page to an accepted submission, and afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.conftest import Desk, Solver, Watch
from tests.browser.submissions import WRONG_SCALE, hint_of, mutated
from tests.browser.workbench import (
    PROBLEM,
    REFERENCE,
    SLUG,
    TITLE,
    Workbench,
    row_of_exercise,
)

BYTES_BEFORE_TYPING = 350_000
# Notes when the editor can be used: when text can be typed into it.
NOTE_THE_EDITOR = """
new MutationObserver((_changes, observer) => {
  if (!document.querySelector('[role="textbox"][contenteditable="true"]')) return;
  globalThis.editorAtMs = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true, attributes: true });
"""
LOADED_BEFORE = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ startTime }) => startTime < editorAtMs)
  .map(({ transferSize }) => transferSize)
"""
# Of the formulas within sentences: how many are held together with what follows them, and how many
# have a mark behind them that could begin a line.
HELD_AND_LOOSE = """
[
  document.querySelectorAll(".with-marks > .math.inline:first-child").length,
  [...document.querySelectorAll(".math.inline")].filter((formula) =>
    /^[,.;:!?)]/.test(formula.nextSibling?.data ?? "") && !formula.closest(".with-marks")).length,
]
"""
SCRATCH = """\
shape = merge_heads(torch.zeros(1, 2, 3, 4)).shape
print("merged", tuple(shape))
"""
SCRATCH_THAT_RAISES = f'{SCRATCH}merge_heads("no tensor")\n'


# --- the way through ------------------------------------------------------------------------------


def test_from_the_catalogue_to_an_accepted_submission(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page).to_have_url(re.compile(rf"/problems/{SLUG}"))
    expect(page.get_by_role("heading", name=TITLE, exact=True, level=1)).to_be_visible()
    bench = Workbench(page)
    # A known mistake is told, and can be mended.
    bench.write(mutated(WRONG_SCALE))
    bench.submit()
    bench.require_verdict("Rejected at T1 Oracle")
    expect(bench.results).to_contain_text(hint_of(WRONG_SCALE))
    expect(bench.results).to_contain_text("largest error")
    hints = bench.read("Hints")
    expect(hints).to_contain_text("They open when a submission of yours is accepted")
    bench.write(REFERENCE)
    bench.run()
    bench.require_verdict("All examples pass")
    bench.submit()
    bench.require_passed()
    expect(bench.results).to_contain_text("The editorial and the reference are open now.")
    expect(hints.get_by_role("heading", name="Reference")).to_be_visible()
    charts = bench.results.get_by_role("figure")
    expect(charts.first.get_by_role("img")).to_be_visible()
    charts.first.get_by_role("button", name="Numbers").click()
    expect(charts.first.get_by_role("table").first).to_be_visible()
    for choice in ("Reference", "Both"):
        bench.results.get_by_text(choice, exact=True).click()
        expect(bench.results.get_by_role("radio", name=choice)).to_be_checked()
        expect(charts.first.get_by_role("img")).to_be_visible()
    history = bench.read("History")
    expect(history.get_by_role("listitem")).to_have_count(2)
    expect(history).to_contain_text("Accepted")
    page.get_by_role("link", name="judge", exact=True).click()
    expect(row_of_exercise(page)).to_contain_text("Solved")


def test_what_a_submission_opens_is_said_once_the_judge_answers_again(
    page: Page, watch: Watch
) -> None:
    watch.expect(r"ERR_FAILED")
    bench = Workbench(page).open()
    exercise = re.compile(r"/api/problems/[^/]+$")
    page.route(exercise, lambda route: route.abort())
    bench.write(REFERENCE)
    bench.submit()
    bench.require_passed()
    expect(bench.results).not_to_contain_text("The editorial")
    page.unroute(exercise)
    expect(bench.results).to_contain_text(
        "The editorial and the reference are open now.", timeout=15_000
    )


def test_the_editor_completes_and_checks_types(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write("import torch\n\ntorch.matm")
    matmul = page.get_by_role("option", name=re.compile("^matmul")).first
    until_visible(matmul, lambda: page.keyboard.press("Control+Space"))
    page.keyboard.press("Escape")
    bench.write("import torch\n\ntorch.matmul(1, attention_kernel)\n")
    wrong = bench.editor.get_by_text("1", exact=True)

    def point_at_it() -> None:
        page.mouse.move(0, 0)
        wrong.hover()

    until_visible(page.get_by_text("Expected `Tensor`").first, point_at_it)


def test_emacs_keys_move_kill_and_yank(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write("first = 1\nsecond = 2")
    page.get_by_role("combobox", name="Keys that edit").select_option("Emacs keys")
    bench.editor.click()
    page.keyboard.press("Control+Home")
    killed = bench.editor.filter(has_not_text="first")
    until_visible(killed, lambda: page.keyboard.press("Control+k"))
    for key in ("Control+n", "Control+e", "Enter", "Control+y", "Control+a"):
        page.keyboard.press(key)
    page.keyboard.type("# ")
    bench.require_text("second = 2# first = 1")
    page.keyboard.press("Control+e")
    page.keyboard.type("\nif second:\npass")
    bench.require_text("if second:    pass")


def until_visible(wanted: Locator, ask: Callable[[], None]) -> None:
    """Ask until it comes: help arrives after the editor, and one can type before that."""
    for _ in range(20):
        ask()
        try:
            wanted.wait_for(timeout=2_000)
        except Error:
            continue
        return
    pytest.fail(f"{wanted} does not come")


def test_the_scratch_tab_runs_against_ones_own_function(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(REFERENCE)
    bench.open_file("scratch")
    bench.write(SCRATCH, "scratch")
    bench.run()
    bench.require_verdict("The scratch file ran to its end")
    expect(bench.printed).to_contain_text("merged (1, 3, 8)")
    bench.write(SCRATCH_THAT_RAISES, "scratch")
    bench.run()
    bench.require_verdict("Runtime error")
    expect(bench.printed).to_contain_text("merged (1, 3, 8)")
    expect(bench.results).to_contain_text("AttributeError")
    expect(bench.results.get_by_role("button", name="scratch.py, line 3")).to_be_visible()
    bench.results.get_by_role("button", name="solution.py, line ").click()
    expect(bench.editor).to_be_focused()
    bench.require_text("def merge_heads")
    expect(bench.read("History").get_by_role("listitem")).to_have_count(0)


def test_what_is_loaded_before_one_can_type_is_small(
    page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    page.add_init_script(NOTE_THE_EDITOR)
    Workbench(page).open()
    at_ms = float(page.evaluate("editorAtMs"))
    sizes = [int(size) for size in page.evaluate(LOADED_BEFORE)]
    with capsys.disabled():
        print(
            f"\nThe editor can be used after {at_ms:.0f} ms, "
            f"{sum(sizes) / 1000:.0f} kB in {len(sizes)} requests"
        )
    assert min(sizes) > 0
    assert sum(sizes) <= BYTES_BEFORE_TYPING


# --- what stays -----------------------------------------------------------------------------------


def test_drafts_survive_and_a_reset_can_be_undone(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write("# half an idea\n")
    bench.open_file("scratch")
    bench.write("print('a thought')\n", "scratch")
    bench.require_kept()
    page.reload()
    bench.require_text("# half an idea")
    expect(bench.open_file("scratch")).to_contain_text("a thought")
    bench.open_file("solution.py")
    page.get_by_role("button", name="Reset").click()
    bench.require_text(f"def {PROBLEM.manifest.entry_points[0]}")
    expect(bench.editor).not_to_contain_text("half an idea")
    page.get_by_role("button", name="Undo").click()
    bench.require_text("# half an idea")
    page.goto("/")
    expect(row_of_exercise(page)).to_contain_text("Draft")


@pytest.mark.parametrize("slug", [SLUG, "l5-3-mha"])
def test_the_actions_stay_in_one_line_when_the_draft_is_kept(page: Page, slug: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"/problems/{slug}")
    actions = page.get_by_role("group", name="Actions")
    before = actions.bounding_box()
    assert before is not None
    page.get_by_role("tabpanel", name=".py").get_by_role("textbox").click()
    page.keyboard.type("#")
    kept = page.get_by_text("saved ")
    expect(kept).to_be_visible()
    assert actions.bounding_box() == before
    run = actions.get_by_role("button", name="Run").bounding_box()
    note = kept.bounding_box()
    assert run is not None
    assert note is not None
    assert run["y"] <= note["y"] <= run["y"] + run["height"]


def test_earlier_submissions_are_opened_compared_and_restored(desk: Desk, solver: Solver) -> None:
    page = desk.page(student=solver.student)
    bench = Workbench(page).open()
    bench.write("# what I have now\n")
    history = bench.read("History")
    expect(history.get_by_role("listitem")).to_have_count(len(solver.submissions))
    history.get_by_role("button", name="Accepted", exact=False).first.click()
    bench.require_passed()
    expect(page).to_have_url(re.compile(solver.submissions["accepted"]))
    accepted = history.get_by_role("checkbox", name="Compare: Accepted")
    place = accepted.bounding_box()
    assert place is not None
    accepted.check()
    assert accepted.bounding_box() == place
    history.get_by_role("checkbox", name="Compare: Wrong answer").check()
    assert accepted.bounding_box() == place
    history.get_by_role("button", name="Compare", exact=True).click()
    compared = page.get_by_role("dialog", name="Comparison")
    expect(compared.get_by_role("textbox")).to_have_count(2)
    expect(compared).to_contain_text("split_heads(query")
    compared.get_by_role("button", name="Close").click()
    expect(compared).to_be_hidden()
    history.get_by_role("button", name="Restore: Accepted").click()
    bench.require_text("def merge_heads")
    bench.editor.click()
    page.keyboard.press("Control+z")
    bench.require_text("# what I have now")


def test_hints_come_one_by_one_and_the_reference_after_solving(desk: Desk, solver: Solver) -> None:
    page = desk.page(student=solver.student)
    bench = Workbench(page).open("?tab=hints")
    hints = bench.read("Hints")
    count = len(PROBLEM.manifest.hints)
    for index in (1, 2):
        hints.get_by_role("button", name=f"Show hint {index} of {count}").click()
    expect(hints.get_by_role("listitem")).to_have_count(2)
    hints.get_by_role("button", name="Read step 1").click()
    expect(hints.get_by_role("listitem")).to_have_count(3)
    hints.get_by_text("solution.py", exact=True).click()
    expect(hints).to_contain_text("def merge_heads")
    hints.get_by_role("button", name="Show it beside your accepted code").click()
    compared = page.get_by_role("dialog", name="Comparison")
    expect(compared).to_contain_text("The two texts are the same.")
    page.keyboard.press("Escape")
    page.reload()
    expect(hints.get_by_role("listitem")).to_have_count(3)


def test_the_theme_can_be_chosen_and_stays(page: Page) -> None:
    page.goto("/")
    light = shown_colours(page)
    theme = page.get_by_role("combobox", name="Theme")
    theme.select_option("Dark")
    dark = shown_colours(page)
    assert dark != light
    Workbench(page).open()
    assert shown_colours(page) == dark
    theme.select_option("Light")
    assert shown_colours(page) == light
    page.emulate_media(color_scheme="dark")
    assert shown_colours(page) == light
    theme.select_option("System")
    assert shown_colours(page) == dark


def test_no_line_begins_with_the_mark_that_ends_a_formula(page: Page) -> None:
    Workbench(page).open()
    expect(page.locator(".statement .katex").first).to_be_visible()
    held, loose = page.evaluate(HELD_AND_LOOSE)
    assert held > 10
    assert loose == 0


def test_on_paper_are_all_charts_with_dark_words(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    Workbench(page).open()
    charts = page.get_by_role("img", name="Reference preview")
    expect(charts.nth(1)).to_be_attached()
    charts.first.scroll_into_view_if_needed()
    # Nobody has scrolled to the others.
    expect(charts.locator("svg")).to_have_count(charts.count())
    words = charts.get_by_text("weight", exact=True).first
    pale = colour_of_words(words)
    page.emulate_media(color_scheme="dark", media="print")
    ink = colour_of_words(words)
    assert ink != pale
    page.emulate_media(color_scheme="light", media="screen")
    assert colour_of_words(words) == ink
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Numbers")).to_have_count(0)


def colour_of_words(words: Locator) -> str:
    return str(words.evaluate("(text) => getComputedStyle(text).fill"))


def shown_colours(page: Page) -> str:
    return str(
        page.evaluate(
            "(({ backgroundColor, color }) => `${color} on ${backgroundColor}`)"
            "(getComputedStyle(document.body))"
        )
    )
