"""The Markdown that exercises are written in: CommonMark with tables and dollar maths.

The page and the proof read it with the same reader, so that what one shows is what the other looks
at. HTML in the source is text. Headings are named by their words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count, pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar

Highlight = Callable[[str, str, str], str]
_read_formula = math_inline_dollar(allow_digits=False)


def make_reader(highlight: Highlight | None = None) -> MarkdownIt:
    """A reader; `highlight` turns code, its language and attributes into HTML."""
    reader = MarkdownIt("commonmark", {"html": False, "highlight": highlight})
    reader.enable(["table", "strikethrough"])
    reader.use(dollarmath_plugin, allow_labels=False, allow_digits=False)
    reader.inline.ruler.at("math_inline", _formula)
    reader.core.ruler.push("name_headings", _name_headings)
    return reader


def _formula(state: StateInline, silent: bool) -> bool:
    """The plugin's rule for a formula in a line of text.

    It looks at the character before the dollar, which for the first one of a text is the last one
    to Python: "$n$, float64" would be no formula because of the 4. So the text gets a harmless end.
    """
    if state.src[state.pos] != "$":
        return False
    text = state.src
    state.src = f"{text} "
    try:
        return _read_formula(state, silent)
    finally:
        state.src = text


def _name_headings(state: StateCore) -> None:
    """Give each heading an id made of its words, and a number when that is taken."""
    taken: set[str] = set()
    for opening, content in pairwise(state.tokens):
        if opening.type == "heading_open":
            words = "-".join(re.findall(r"[a-z0-9]+", content.content.lower())) or "section"
            name = next(each for each in _candidates(words) if each not in taken)
            taken.add(name)
            opening.attrSet("id", name)


def _candidates(words: str) -> Iterator[str]:
    yield words
    yield from (f"{words}-{number}" for number in count(2))
