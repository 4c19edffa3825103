"""axe-core in a page whose policy forbids foreign scripts, wide and narrow.

The debugger's protocol runs it, which the policy does not bind; the policy of the page itself
stays in force.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import CDPSession, Page, ViewportSize, expect

DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
# What each theme is looked at for, and what a word may stand for. They differ in colours only, so
# the second need not be asked for all the rest once more, nor for each letter of a formula: all
# have the colour of the text around it. (It must be a word: axe is not sure of single letters.)
THEMES: dict[Literal["light", "dark"], tuple[dict[str, Any], str]] = {
    "light": ({}, ""),
    "dark": (
        {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
        ".katex",
    ),
}
# Nothing has another colour on a narrow page than on a wide one. What it has of its own is looked
# at in the second theme, too; the rest was, when it was wide.
ONLY_NARROW = 'header, :has(> [role="tablist"][aria-label="Panes"])'
# What stands in hidden panels is nobody's to see, hear or reach, and no rule looks at it; but
# finding out that it is hidden takes axe longer than all the rest. So it is out of the page
# meanwhile.
RUN = """
async (options, abridged, part) => {
  await new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready)));
  const takenOut = (selector, substitute) =>
    [...document.querySelectorAll(selector)].map((place) => {
      const content = [...place.childNodes];
      place.replaceChildren(substitute);
      return { place, content };
    });
  const taken = takenOut('[role="tabpanel"][hidden]', "");
  if (abridged) taken.push(...takenOut(abridged, "formula"));
  try {
    const looked = part ? [...document.querySelectorAll(part)] : document;
    if (looked.length === 0) return [];
    const found = await axe.run(looked, { resultTypes: ["violations"], ...options });
    return found.violations.flatMap(({ id, help, nodes }) => nodes.map(
      ({ target, failureSummary }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`
    ));
  } finally {
    for (const { place, content } of taken) place.replaceChildren(...content);
  }
}
"""


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, in both themes, one line for each place.

    A narrow page should have been looked at when it was wide, as `widths` makes it.
    """
    debugger = page.context.new_cdp_session(page)
    found: list[str] = []
    narrow = page.viewport_size == PHONE
    try:
        if not _evaluated(debugger, "globalThis.axe ? ['there'] : []"):
            _evaluated(debugger, f"{_source()}\n[]")
        for theme, (options, abridged) in THEMES.items():
            page.emulate_media(color_scheme=theme)
            part = ONLY_NARROW if narrow and theme == "dark" else ""
            arguments = ", ".join(map(json.dumps, (options, abridged, part)))
            said = _evaluated(debugger, f"({RUN})({arguments})")
            found += [f"{theme}: {each}" for each in said]
    finally:
        debugger.detach()
    return found


def _evaluated(debugger: CDPSession, expression: str) -> list[str]:
    answer = debugger.send(
        "Runtime.evaluate",
        {"expression": expression, "awaitPromise": True, "returnByValue": True},
    )
    assert "exceptionDetails" not in answer, answer
    value: list[str] = answer["result"]["value"]
    return value


def require_accessible(page: Page, screen: str) -> None:
    """Nothing is wrong with the page as it is now, in either theme."""
    found = violations(page)
    assert not found, "\n".join((f"{screen} at {page.viewport_size}:", *found))


def require_no_sideways_scrolling(page: Page) -> None:
    """Nothing is cut off at the right."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def widths(page: Page, pane: str = "") -> Iterator[None]:
    """Make the page as wide as a desk, then as a phone, where it shows this pane; then wide again.

    The layout follows the width while the page is open, so that it is loaded, and led to the screen
    that is looked at, only once.
    """
    panes = page.get_by_role("tablist", name="Panes")
    yield
    page.set_viewport_size(PHONE)
    if pane:
        panes.get_by_role("tab", name=pane).click()
    yield
    page.set_viewport_size(DESK)
    expect(panes).to_be_hidden()
