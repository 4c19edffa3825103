"""What may go wrong on the way: programs that do not end, reloads, networks, markup, two tabs."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.accessible import require_accessible, widths
from tests.browser.conftest import Desk, Solver, Watch
from tests.browser.submissions import ENDLESS, MARKUP, SLOW
from tests.browser.workbench import JUDGED_MS, REFERENCE, TIERS, TITLE, Workbench

WITHOUT_NETWORK = r"ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|WebSocket connection"
NOT_FOUND = r"status of 404"


def test_an_endless_loop_ends_and_the_editor_lives(desk: Desk) -> None:
    page = desk.page(reduced_motion="reduce")
    bench = Workbench(page).open()
    bench.write(ENDLESS)
    bench.submit()
    submit = page.get_by_role("button", name="Submit").first
    expect(submit).to_have_attribute("aria-disabled", "true")
    submit.hover()
    expect(submit).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # its words can be read
    bench.write("# typed while it is judged\n" + ENDLESS)
    bench.require_text("typed while it is judged")
    bench.require_verdict("Time limit exceeded")
    expect(bench.tile(TIERS[-1])).to_contain_text("not run")
    bench.require_text("typed while it is judged")
    expect(bench.read("History")).to_contain_text("Time limit exceeded")
    for _ in widths(page, "Results"):
        require_accessible(page, "results: endless")


def test_a_reload_goes_on_with_what_is_judged(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(SLOW)
    bench.submit()
    begun = re.compile("running|passed")  # a busy machine may look away while it runs
    expect(bench.tile(TIERS[1])).to_contain_text(begun, timeout=JUDGED_MS)
    page.reload()
    bench.require_text("time.sleep")
    bench.require_passed()
    expect(bench.read("History").get_by_role("listitem")).to_have_count(1)


def test_without_a_network_judging_goes_on_and_nothing_is_lost(page: Page, watch: Watch) -> None:
    watch.expect(WITHOUT_NETWORK)
    bench = Workbench(page).open()
    bench.write(SLOW)
    bench.submit()
    expect(bench.tile(TIERS[0])).to_contain_text("passed", timeout=JUDGED_MS)
    page.context.set_offline(offline=True)
    expect(page.get_by_text("You are offline.")).to_be_visible()
    bench.write(REFERENCE)
    page.context.set_offline(offline=False)
    expect(page.get_by_text("You are offline.")).to_be_hidden()
    bench.require_passed()
    bench.require_text("def merge_heads")


def test_what_is_sent_without_a_network_is_sent_when_it_is_back(page: Page, watch: Watch) -> None:
    watch.expect(WITHOUT_NETWORK)
    bench = Workbench(page).open()
    bench.write(REFERENCE)
    page.context.set_offline(offline=True)
    bench.submit()
    bench.require_verdict("Not sent yet")
    page.context.set_offline(offline=False)
    bench.require_passed()
    expect(bench.read("History").get_by_role("listitem")).to_have_count(1)


def test_two_tabs_know_of_each_other(desk: Desk) -> None:
    context = desk.context()
    first = Workbench(desk.page(context)).open()
    second = Workbench(desk.page(context)).open()
    first.write(REFERENCE)
    second.require_text("def merge_heads")
    second.submit()
    second.require_passed()
    expect(first.read("History").get_by_role("listitem")).to_have_count(1)
    second.write("# the other way round\n")
    first.require_text("# the other way round")


def test_markup_stays_text_wherever_it_comes_from(desk: Desk, solver: Solver, watch: Watch) -> None:
    watch.expect(NOT_FOUND)
    page = desk.page(student=solver.student)
    bench = Workbench(page).open(f"?submission={solver.submissions['raising']}")
    bench.require_verdict("Rejected at T0 Interface")
    expect(bench.printed).to_contain_text(MARKUP)
    expect(bench.results.get_by_text(f"{MARKUP}: {MARKUP}").first).to_be_visible()
    expect(bench.results.get_by_text(f"in {MARKUP}").first).to_be_visible()
    require_no_element_of_it(page)
    bench.write(MARKUP)
    bench.require_text(MARKUP)
    history = bench.read("History")
    history.get_by_role("checkbox", name="Text in the editor").check()
    history.get_by_role("checkbox", name="Compare: ").first.check()
    history.get_by_role("button", name="Compare", exact=True).click()
    compared = page.get_by_role("dialog", name="Comparison")
    expect(compared).to_contain_text(MARKUP)
    require_no_element_of_it(page)
    expect(page).to_have_title(re.compile(TITLE))
    page.goto("/tracks/%3Cimg%20src=x%20onerror=alert(1)%3E")
    expect(page.locator("main")).to_contain_text("<img src=x onerror=alert(1)>")
    require_no_element_of_it(page)


def require_no_element_of_it(page: Page) -> None:
    # The editor has pictures of its own, of nothing, where its cursor may stand.
    expect(page.locator("main img[src], main script")).to_have_count(0)


def test_what_is_nowhere_says_so(page: Page, watch: Watch) -> None:
    watch.expect(NOT_FOUND)
    for path, words in {
        "/nothing/here": "There is nothing at this address",
        "/tracks/none": "No such track",
        "/problems/none": "There is no exercise of this name",
    }.items():
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 404
        expect(page.get_by_role("heading", level=1)).to_contain_text(words)
        expect(page.get_by_role("main").get_by_role("link").first).to_be_visible()


def test_an_error_in_the_page_is_noticed(page: Page, watch: Watch) -> None:
    page.goto("/")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('on purpose'); })")
    page.evaluate("console.error('said on purpose')")
    page.evaluate("fetch('https://elsewhere.example/').catch(() => null)")
    found = watch.unexpected()
    assert any("Error: on purpose" in each or "error: on purpose" in each for each in found)
    assert any("said on purpose" in each for each in found)
    assert any("elsewhere" in each for each in found)
    watch.expect("on purpose|elsewhere")
