"""Statements: Markdown with LaTeX, turned into HTML that is safe to put into a page.

Theory of operation
-------------------
Three passes. markdown-it reads CommonMark with tables and dollar maths (`judge.markdown`); HTML in
the source is text, never markup. Pygments colours code by classes, so that a page without inline
styles can show it. nh3 then keeps what is on the lists below and nothing else: the first two could
be wrong about everything, and the result would still be inert.

Formulas stay TeX, in `<span class="math inline">` and `<div class="math block">`; the page
typesets them. Headings have ids behind a prefix, so that no statement can take an id of the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from judge.markdown import make_reader

ID_PREFIX = "statement-"
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
TAGS = HEADINGS | {
    "a", "blockquote", "br", "code", "div", "em", "hr", "li", "ol", "p", "pre", "s", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    **{heading: {"id"} for heading in HEADINGS},
    "a": {"href", "title"},
    "ol": {"start"},
}
INLINE_TAGS = {"code", "em", "s", "span", "strong"}
CLASSES = {
    "span": {"math", "inline", *filter(None, STANDARD_TYPES.values())},
    "div": {"math", "block"},
    "pre": {"highlight"},
    "th": {"left", "center", "right"},
    "td": {"left", "center", "right"},
}
SCHEMES = {"http", "https"}
_FORMATTER = HtmlFormatter[str](nowrap=True)
_STYLE_OF_CELL = re.compile(r"text-align:(left|center|right)")


@lru_cache(maxsize=512)
def render(markdown: str) -> str:
    """`markdown` as safe HTML. Takes milliseconds the first time; keep it off the event loop."""
    return nh3.clean(
        _MARKDOWN.render(markdown),
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        allowed_classes=CLASSES,
        url_schemes=SCHEMES,
        url_relative=_within_the_statement,
        id_prefix=ID_PREFIX,
        link_rel="noopener noreferrer",
    )


@lru_cache(maxsize=512)
def render_inline(markdown: str) -> str:
    """`markdown` of a single line as safe HTML that may stand in a heading or in a button."""
    return nh3.clean(
        _MARKDOWN.renderInline(markdown),
        tags=INLINE_TAGS,
        attributes={},
        allowed_classes={"span": CLASSES["span"]},
    )


def sections(markdown: str) -> list[tuple[str, str]]:
    """Title and text of each part under a `##` heading, both Markdown.

    What is before the first heading has no title. A line that looks like a heading inside
    a block of code is none.
    """
    lines = markdown.splitlines(keepends=True)
    tokens = _MARKDOWN.parse(markdown)
    headings = [
        (token.map[0], token.map[1], content.content)
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0 and token.map
    ]
    starts = [(0, 0, ""), *headings, (len(lines), len(lines), "")]
    parts = [(title, "".join(lines[body:end])) for (_, body, title), (end, *_) in pairwise(starts)]
    return [(title, text) for title, text in parts if title or text.strip()]


def _within_the_statement(url: str) -> str | None:
    """Of addresses without a host only those of a heading are kept, with its prefix."""
    return f"#{ID_PREFIX}{url[1:]}" if url.startswith("#") else None


def _coloured(code: str, language: str, _attributes: str) -> str:
    """A block of code; what Pygments does not know stays plain."""
    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    return f'<pre class="highlight"><code>{highlight(code, lexer, _FORMATTER)}</code></pre>\n'


def _align_by_class(state: StateCore) -> None:
    """Alignment of cells as a class: an inline style would be refused by the page."""
    for token in _cells(state.tokens):
        match = _STYLE_OF_CELL.fullmatch(str(token.attrs.pop("style", "")))
        if match:
            token.attrSet("class", match[1])


def _cells(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.type in ("th_open", "td_open")]


def _reader() -> MarkdownIt:
    reader = make_reader(_coloured)
    reader.core.ruler.push("align_by_class", _align_by_class)
    return reader


_MARKDOWN = _reader()
