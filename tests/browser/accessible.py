"""axe-core in a page whose policy forbids foreign scripts.

The debugger's protocol runs it, which the policy does not bind; the policy of the page itself
stays in force.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import CDPSession, Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
# What each theme is looked at for. They differ in colours only, so the second need not be asked
# for all the rest once more.
THEMES: dict[Literal["light", "dark"], dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
RUN = """
(options) => new Promise(requestAnimationFrame)
  .then(() => axe.run(document, { resultTypes: ["violations"], ...options }))
  .then((found) => found.violations.flatMap(({ id, help, nodes }) => nodes.map(
    ({ target, failureSummary }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`
  )))
"""


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, in both themes, one line for each place."""
    debugger = page.context.new_cdp_session(page)
    found: list[str] = []
    try:
        _evaluated(debugger, f"if (!globalThis.axe) {{ {_source()} }}\n[]")
        for theme, options in THEMES.items():
            page.emulate_media(color_scheme=theme)
            said = _evaluated(debugger, f"({RUN})({json.dumps(options)})")
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
