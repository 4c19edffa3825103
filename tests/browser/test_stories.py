"""What a student does from the first page to an accepted submission, and what may go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.accessible import require_accessible
from tests.browser.conftest import Desk, Watch
from tests.browser.workbench import (
    JUDGED_MS,
    REFERENCE,
    SLUG,
    TIERS,
    Workbench,
    hint_of,
    mutated,
)

TITLE = "Multi-head attention"
WITHOUT_NETWORK = r"ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|WebSocket connection"
FIRST_LINE = "    q = split_heads(query"
ENDLESS = REFERENCE.replace(FIRST_LINE, f"    while True:\n        pass\n{FIRST_LINE}")
SLOW = REFERENCE.replace("import torch\n", "import time\n\nimport torch\n").replace(
    FIRST_LINE, f"    time.sleep(0.15)\n{FIRST_LINE}"
)
MARKUP = '<img src="x" onerror="document.title = 1"><script>document.title = 2</script>'
HOSTILE = f"print({MARKUP!r})\n" + REFERENCE.replace(
    FIRST_LINE, f"    raise ValueError({MARKUP!r})\n{FIRST_LINE}"
)
BYTES_BEFORE_TYPING = 350_000


# --- the way through ------------------------------------------------------------------------------


def test_from_the_catalogue_to_an_accepted_submission(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name=TITLE).click()
    expect(page).to_have_url(re.compile(rf"/problems/{SLUG}"))
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    bench = Workbench(page)
    bench.write(REFERENCE)
    bench.run()
    bench.require_verdict("All examples pass")
    bench.submit()
    bench.require_verdict("Accepted")
    for tier in TIERS:
        expect(bench.tile(tier)).to_contain_text("passed")
    expect(bench.results.get_by_role("img").first).to_be_visible()
    bench.results.get_by_role("button", name="Numbers").first.click()
    expect(bench.results.get_by_role("table").first).to_be_visible()
    history = bench.read("History")
    expect(history.get_by_role("listitem")).to_have_count(1)
    expect(history).to_contain_text("Accepted")
    page.get_by_role("link", name="judge", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text=TITLE)).to_contain_text("Solved")


def test_a_known_mistake_is_told_and_can_be_mended(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(mutated("scale-by-model-width"))
    bench.submit()
    bench.require_verdict("Rejected at T1 Oracle")
    expect(bench.results).to_contain_text(hint_of("scale-by-model-width"))
    expect(bench.results).to_contain_text("largest error")
    bench.write(REFERENCE)
    bench.submit()
    bench.require_verdict("Accepted")


def test_an_endless_loop_ends_and_the_editor_lives(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(ENDLESS)
    bench.submit()
    bench.write("# typed while it is judged\n" + ENDLESS)
    bench.require_text("typed while it is judged")
    bench.require_verdict("Time limit exceeded")
    expect(bench.tile(TIERS[-1])).to_contain_text("not run")
    bench.require_text("typed while it is judged")


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


# --- what may go wrong on the way -----------------------------------------------------------------


def test_a_reload_goes_on_with_what_is_judged(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(SLOW)
    bench.submit()
    expect(bench.tile(TIERS[1])).to_contain_text("running", timeout=JUDGED_MS)
    page.reload()
    bench.require_text("time.sleep")
    bench.require_verdict("Accepted")
    for tier in TIERS:
        expect(bench.tile(tier)).to_contain_text("passed")


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
    bench.require_verdict("Accepted")
    bench.require_text("def merge_heads")


def test_what_is_sent_without_a_network_is_sent_when_it_is_back(page: Page, watch: Watch) -> None:
    watch.expect(WITHOUT_NETWORK)
    bench = Workbench(page).open()
    bench.write(REFERENCE)
    page.context.set_offline(offline=True)
    bench.submit()
    bench.require_verdict("Not sent yet")
    page.context.set_offline(offline=False)
    bench.require_verdict("Accepted")


def test_two_tabs_know_of_each_other(desk: Desk) -> None:
    context = desk.context(viewport={"width": 1440, "height": 900})
    first = Workbench(desk.page(context)).open()
    first.write(REFERENCE)
    expect(first.page.get_by_text(re.compile(r"^saved "))).to_be_visible()
    second = Workbench(desk.page(context)).open()
    second.require_text("def merge_heads")
    second.submit()
    second.require_verdict("Accepted")
    first.page.reload()
    expect(first.read("History").get_by_role("listitem")).to_have_count(1)


def test_markup_in_output_and_messages_stays_text(page: Page) -> None:
    bench = Workbench(page).open()
    bench.write(HOSTILE)
    bench.submit()
    bench.require_verdict("Rejected at T0 Interface")
    output = bench.results.get_by_role("region", name="Printed output")
    expect(output).to_contain_text(MARKUP)
    expect(bench.results.get_by_text("ValueError").first).to_be_visible()
    expect(bench.results.locator("img, script")).to_have_count(0)
    expect(page).to_have_title(re.compile(TITLE))


# --- other ways to use it -------------------------------------------------------------------------


def test_on_a_phone_submit_is_in_reach_and_nothing_is_cut_off(phone: Page) -> None:
    phone.goto(f"/problems/{SLUG}")
    panes = phone.get_by_role("tablist", name="Panes")
    expect(phone.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    require_no_sideways_scrolling(phone)
    panes.get_by_role("tab", name="Code").tap()
    bench = Workbench(phone)
    bench.write(REFERENCE)
    require_no_sideways_scrolling(phone)
    bench.submit()
    bench.require_verdict("Accepted")
    require_no_sideways_scrolling(phone)
    panes.get_by_role("tab", name="Statement").tap()
    button = phone.get_by_role("button", name="Submit")
    expect(button).to_be_in_viewport()


def require_no_sideways_scrolling(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_everything_can_be_done_by_keyboard(page: Page) -> None:
    page.goto("/")
    link = page.get_by_role("link", name=TITLE)
    expect(link).to_be_visible()
    tab_to(page, lambda: has_focus(page, TITLE))
    page.keyboard.press("Enter")
    bench = Workbench(page)
    expect(bench.editor).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(bench.editor).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(mutated("scale-by-model-width"))
    page.keyboard.press("Control+Shift+Enter")
    bench.require_verdict("Rejected at T1 Oracle")
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


def tab_to(page: Page, is_there: Callable[[], bool]) -> None:
    for _ in range(60):
        if is_there():
            return
        page.keyboard.press("Tab")
    pytest.fail("the Tab key does not lead there")


def has_focus(page: Page, words: str) -> bool:
    return str(page.evaluate("document.activeElement.textContent")).strip() == words


def test_what_is_loaded_before_one_can_type_is_small(
    page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[int] = []
    debugger = page.context.new_cdp_session(page)
    debugger.send("Network.enable")
    debugger.on("Network.loadingFinished", lambda done: loaded.append(done["encodedDataLength"]))
    Workbench(page).open()
    total = sum(map(int, loaded))
    with capsys.disabled():
        print(f"\n{total / 1000:.0f} kB in {len(loaded)} requests until the editor can be used")
    assert total < BYTES_BEFORE_TYPING


# --- whoever sees or hears it differently ---------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/tracks/papers", "/tracks/none", "/problems/none"])
def test_pages_of_the_catalogue_are_accessible(sized: Page, watch: Watch, path: str) -> None:
    watch.expect(r"status of 404")
    sized.goto(path)
    expect(sized.get_by_role("heading").first).to_be_visible()
    expect(sized.get_by_role("link").last).to_be_visible()
    require_accessible(sized)


def test_the_exercise_is_accessible_at_every_moment(sized: Page) -> None:
    sized.goto(f"/problems/{SLUG}")
    expect(sized.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    require_accessible(sized)
    for tab in ("Hints", "History", "Statement"):
        Workbench(sized).read(tab)
        require_accessible(sized)
    sized.keyboard.press("?")
    require_accessible(sized)
    sized.keyboard.press("Escape")
    show(sized, "Code")
    bench = Workbench(sized)
    for source, verdict in (
        (mutated("scale-by-model-width"), "Rejected at T1 Oracle"),
        (HOSTILE, "Rejected at T0 Interface"),
        (REFERENCE, "Accepted"),
    ):
        show(sized, "Code")
        bench.write(source)
        require_accessible(sized)
        bench.submit()
        bench.require_verdict(verdict)
        require_accessible(sized)
    show(sized, "Statement")
    bench.read("History")
    require_accessible(sized)


def show(page: Page, pane: str) -> None:
    """On a narrow page one pane is shown at a time."""
    panes = page.get_by_role("tablist", name="Panes")
    if panes.is_visible():
        panes.get_by_role("tab", name=pane).click()
