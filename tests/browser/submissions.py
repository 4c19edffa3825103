"""What students send."""

from __future__ import annotations

from judge.verdicts import Verdict
from tests.browser.workbench import PROBLEM, REFERENCE

WRONG_SCALE = "scale-by-model-width"
FIRST_LINE = "    q = split_heads(query"


def mutated(name: str) -> str:
    """The reference with one known mistake."""
    mutant = next(each for each in PROBLEM.mutants if each.id == name)
    return PROBLEM.mutate(mutant).decode()


def hint_of(name: str) -> str:
    """What the page says to whoever made it; without the marks of code, which are drawn."""
    return next(each.hint for each in PROBLEM.mutants if each.id == name).replace("`", "")


def _beginning_with(lines: str) -> str:
    """The reference, which does this first."""
    assert FIRST_LINE in REFERENCE
    return REFERENCE.replace(FIRST_LINE, f"{lines}\n{FIRST_LINE}")


ENDLESS = _beginning_with("    while True:\n        pass")
SLOW = "import time\n" + _beginning_with("    time.sleep(0.15)")
MARKUP = '<img src="x" onerror="document.title = 1"><script>document.title = 2</script>'
# In what is printed, in a message, in the name of an exception and in that of a function.
HOSTILE = f"""\
print({MARKUP!r})
Strange = type({MARKUP!r}, (ValueError,), {{}})


def strange():
    raise Strange({MARKUP!r})


strange.__code__ = strange.__code__.replace(co_name={MARKUP!r})
""" + _beginning_with("    strange()")

KNOWN: dict[str, tuple[str, Verdict]] = {
    "accepted": (REFERENCE, Verdict.AC),
    "wrong": (mutated(WRONG_SCALE), Verdict.WA),
    "raising": (HOSTILE, Verdict.RE),
}
