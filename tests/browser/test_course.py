"""What only some exercises have: a chapter's card, examples, rules, needs, one's own tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from judge.problem import Problem, load_problem
from tests.browser.accessible import require_accessible, require_no_sideways_scrolling, widths
from tests.browser.conftest import Desk, Watch
from tests.browser.workbench import JUDGED_MS, Workbench

PROBLEMS = Path(__file__).parents[2] / "problems"
CHAPTER = load_problem(PROBLEMS / "l5-3-mha")
NEED = load_problem(PROBLEMS / "l5-1-attention")
WITH_EXAMPLES = load_problem(PROBLEMS / "mha-numpy")
WITH_RULES = load_problem(PROBLEMS / "mha-module")
OWN = "tests/test_own.py"
ACCEPTED_SUITE = PROBLEMS / CHAPTER.slug / "suites" / "accepted" / "good.py"
GRADED_MS = 3 * JUDGED_MS  # every test on every right and wrong solution
# Notices keys taken from the wrong side, and nothing else.
SUITE = """\
import numpy as np
from tinyllm import PCG32, Tensor
from tinyllm.xfmr.mha import MultiHeadAttention


def test_output_has_the_length_of_x_q():
    module = MultiHeadAttention(8, 2, rng=PCG32(0))
    out = module(Tensor(np.ones((2, 3, 8))), Tensor(np.ones((2, 5, 8))))
    assert out.shape == (2, 3, 8)


def test_weights_have_a_column_for_each_key():
    module = MultiHeadAttention(8, 2, rng=PCG32(0))
    _, weights = module.attend(Tensor(np.ones((2, 3, 8))), Tensor(np.ones((2, 5, 8))))
    assert weights.shape == (2, 2, 3, 5)
"""


def opened(page: Page, problem: Problem) -> Workbench:
    """The exercise's page, ready to type in, or to go to the code on a narrow one."""
    page.goto(f"/problems/{problem.slug}")
    code = page.get_by_role("tab", name="Code", exact=True)
    editor = page.get_by_role("textbox", name=problem.main_file)
    expect(editor.or_(code)).to_be_visible()
    return Workbench(page)


def statement(page: Page) -> Locator:
    return page.get_by_role("tabpanel", name="Statement", exact=True).last


def reference(problem: Problem) -> str:
    return problem.reference.decode()


# --- what is read ---------------------------------------------------------------------------------


def test_a_chapter_has_a_card_with_what_it_needs_and_what_one_takes_away(
    page: Page, watch: Watch
) -> None:
    watch.expect(r"WebSocket is closed before")  # the page is left before its editor is helped
    opened(page, CHAPTER)
    card = page.get_by_role("region", name="Chapter")
    course = CHAPTER.manifest.course
    assert course is not None
    for words in (course.module, course.hours, course.builds, *course.assumes, *course.later):
        expect(card).to_contain_text(words)
    expect(card.get_by_role("listitem").filter(has_text="not passed yet")).to_have_count(1)
    # A takeaway leads to the test that shows it.
    takeaways = page.get_by_role("region", name="What you take away")
    check = takeaways.get_by_role("button", name="test_golden_torch")
    expect(check).to_be_visible()
    check.click()
    row = page.get_by_role("row", name="test_golden_torch")
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    card.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(rf"/problems/{NEED.slug}$"))


def test_a_session_is_copied_without_prompts_and_answers(desk: Desk) -> None:
    page = desk.page(permissions=["clipboard-read", "clipboard-write"])
    opened(page, WITH_RULES)
    statement(page).get_by_role("button", name="Copy input").first.click()
    expect(statement(page).get_by_role("button", name="Copied")).to_be_visible()
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    assert "torch.manual_seed(0)" in copied
    assert ">>>" not in copied
    assert "torch.Size" not in copied


# --- what is run ----------------------------------------------------------------------------------


def test_an_example_runs_after_ones_own_code(page: Page) -> None:
    bench = opened(page, WITH_EXAMPLES)
    examples = page.get_by_role("region", name="Example")
    run = examples.get_by_role("button", name="Run the example").first
    bench.write(reference(WITH_EXAMPLES), WITH_EXAMPLES.main_file)
    run.click()
    expect(examples).to_contain_text("Same output", timeout=JUDGED_MS)
    bench.write("def multi_head_attention(X, *matrices, num_heads):\n    return X, X\n")
    run.click()
    expect(examples).to_contain_text("lines differ", timeout=JUDGED_MS)
    bench.write("def multi_head_attention(X, *matrices, num_heads):\n    return X.nothing\n")
    run.click()
    expect(examples).to_contain_text("AttributeError", timeout=JUDGED_MS)
    # The editor does not hold the example: its line is told, and leads nowhere.
    for place in (examples, bench.results):
        expect(place).to_contain_text(re.compile(r"The example, line \d"))
        expect(place.get_by_role("button", name=re.compile(r", line \d"))).to_have_count(1)
    examples.get_by_role("button", name=f"{WITH_EXAMPLES.main_file}, line 2").click()
    expect(bench.tab_of_editor(WITH_EXAMPLES.main_file)).to_be_focused()


def test_a_broken_rule_is_named_with_its_line(page: Page) -> None:
    bench = opened(page, WITH_RULES)
    forbidden = WITH_RULES.manifest.forbidden[0]
    rule = forbidden.rule.replace("`", "")
    expect(page.get_by_role("region", name="Interface", exact=True)).to_contain_text(rule)
    source = f"{reference(WITH_RULES)}\n\nLAYER = {forbidden.name.removeprefix('torch.')}\n"
    bench.write(source, WITH_RULES.main_file)
    bench.submit()
    bench.require_verdict("Rejected: a rule of the exercise is broken")
    expect(bench.results).to_contain_text(rule)
    line = source.rstrip("\n").count("\n") + 1
    bench.results.get_by_role("button", name=f"{WITH_RULES.main_file}, line {line}").click()
    expect(bench.tab_of_editor(WITH_RULES.main_file)).to_be_focused()
    expect(bench.tab_of_editor(WITH_RULES.main_file)).to_contain_text("LAYER = ")


def test_where_a_need_is_unmet_the_reference_can_stand_in(page: Page, watch: Watch) -> None:
    watch.expect(r"status of 409")
    bench = opened(page, CHAPTER)
    needs = page.get_by_role("group", name="What this exercise builds on")
    expect(needs).to_contain_text("is not passed yet")
    bench.write(reference(CHAPTER), CHAPTER.main_file)
    bench.submit()
    bench.require_verdict("Not taken")
    expect(bench.verdict).to_contain_text("is not passed yet")
    expect(bench.results.get_by_role("tab")).to_have_count(0)  # no tier waits for anything
    switch = needs.get_by_role("switch", name="Judge on top of the reference")
    switch.check()
    bench.require_kept()
    page.reload()
    expect(switch).to_be_checked()
    bench.submit()
    bench.require_verdict("Accepted")
    expect(bench.results).to_contain_text("when your own tests are accepted as well")
    page.goto("/")
    row = page.get_by_role("listitem").filter(has_text=CHAPTER.manifest.title)
    expect(row).to_contain_text("Solution passed, tests not yet")


# --- one's own tests ------------------------------------------------------------------------------


def test_own_tests_are_graded_by_what_they_notice(desk: Desk) -> None:
    page = desk.page(reduced_motion="reduce")
    bench = opened(page, CHAPTER)
    bench.read("History")
    bench.open_file(OWN)
    bench.write(SUITE, OWN)
    page.keyboard.press("Control+Alt+Enter")
    expect(bench.verdict).to_contain_text("Rejected: too few mutants", timeout=GRADED_MS)
    expect(bench.results).to_contain_text("2 tests passed")
    expect(bench.results.get_by_role("img", name=re.compile("80 % needed"))).to_be_visible()
    matrix = bench.results.get_by_role("table", name="Which of your tests notice which mutant")
    rows = matrix.get_by_role("row")
    expect(rows).to_have_count(2 + 2)  # and a head and a foot
    cells = matrix.get_by_role("cell", name="noticed", exact=True)
    expect(cells.first).to_be_attached()
    expect(matrix.get_by_role("columnheader", name="not noticed").first).to_be_attached()
    survivors = bench.results.get_by_role("region", name="What no test notices")
    symptom = next(each.symptom for each in CHAPTER.graded_mutants if "merge" in each.id)
    expect(survivors).to_contain_text(symptom.replace("`", ""))
    for _ in widths(page, "Results"):
        expect(matrix).to_be_visible()
        require_no_sideways_scrolling(page)
        require_accessible(page, "graded tests")
    # A test that refuses right solutions leads to its line.
    bench.write(f"{SUITE}\n\ndef test_wrong():\n    assert MultiHeadAttention is None\n", OWN)
    page.get_by_role("button", name="Grade tests").click()
    expect(bench.verdict).to_contain_text("fails on a right solution", timeout=GRADED_MS)
    bench.open_file(CHAPTER.main_file)
    bench.results.get_by_role("button", name=re.compile(r"test_own\.py, line \d+")).click()
    expect(bench.tab_of_editor(OWN)).to_be_focused()


def test_a_chapter_is_solved_by_a_solution_and_tests_without_a_reload(page: Page) -> None:
    bench = opened(page, CHAPTER)
    page.get_by_role("switch", name="Judge on top of the reference").check()
    bench.write(reference(CHAPTER), CHAPTER.main_file)
    bench.submit()
    bench.require_verdict("Accepted")
    expect(bench.results).to_contain_text("when your own tests are accepted as well")
    bench.open_file(OWN)
    bench.write(ACCEPTED_SUITE.read_text(), OWN)
    page.get_by_role("button", name="Grade tests").click()
    expect(bench.verdict).to_contain_text("Your tests are accepted", timeout=GRADED_MS)
    expect(bench.results).to_contain_text("The editorial and the reference are open now.")
    expect(bench.results).not_to_contain_text("as well")
    expect(bench.tab_of_editor(OWN)).to_contain_text("def test_")


def test_more_files_of_tests_can_be_added_renamed_and_removed(page: Page) -> None:
    bench = opened(page, CHAPTER)
    files = page.get_by_role("tablist", name="Files")
    for number in (1, 2):
        page.get_by_role("button", name="Add tests").click()
        expect(files.get_by_role("tab", selected=True)).to_be_in_viewport(ratio=1)
        expect(files.get_by_role("tab")).to_have_count(3 + number)
    page.keyboard.insert_text("def test_more():\n    assert True\n")
    page.get_by_role("button", name="Rename").click()
    name = page.get_by_role("textbox", name="Name of the file")
    name.fill("own")
    name.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("already")
    name.fill("masks")
    name.press("Enter")
    added = files.get_by_role("tab", name="tests/test_masks.py")
    expect(added).to_be_visible()
    bench.require_kept()
    page.reload()
    added.click()
    expect(bench.tab_of_editor("tests/test_masks.py")).to_contain_text("def test_more")
    page.get_by_role("button", name="Remove").click()
    expect(added).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(bench.tab_of_editor("tests/test_masks.py")).to_contain_text("def test_more")


# --- for everybody --------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [CHAPTER, WITH_EXAMPLES], ids=lambda each: str(each.slug))
def test_what_a_chapter_says_is_accessible(desk: Desk, problem: Problem) -> None:
    page = desk.page(reduced_motion="reduce")
    bench = opened(page, problem)
    expect(statement(page).get_by_role("heading", name="Sources")).to_be_attached()
    # What is wider than its column can be focused once its fonts are there.
    page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    for _ in widths(page, "Statement"):
        require_no_sideways_scrolling(page)
        require_accessible(page, problem.slug)
    if problem is CHAPTER:
        bench.read("History")
        page.get_by_role("button", name="Add tests").click()
        page.get_by_role("button", name="Rename").click()
        for _ in widths(page, "Code"):
            require_accessible(page, "files of tests")
