"""axe-core in a page whose policy forbids foreign scripts.

The debugger's protocol runs it, which the policy does not bind; the policy of the page itself
stays in force.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """
axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations.flatMap(
  ({ id, help, nodes }) => nodes.map(
    ({ target, failureSummary }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`
  )
))
"""


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, one line for each place."""
    debugger = page.context.new_cdp_session(page)
    try:
        debugger.send("Runtime.evaluate", {"expression": f"{_source()}\n;0"})
        answer = debugger.send(
            "Runtime.evaluate",
            {"expression": RUN, "awaitPromise": True, "returnByValue": True},
        )
    finally:
        debugger.detach()
    assert "exceptionDetails" not in answer, answer
    found: list[str] = answer["result"]["value"]
    return found


def require_accessible(page: Page) -> None:
    """Nothing is wrong with the page as it is now."""
    found = violations(page)
    assert not found, "\n".join(found)
