"""A Markdown file as a rule sees it: its headings, code, formulas and links, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it.token import Token

from judge.markdown import make_reader


@dataclass(frozen=True)
class Piece:
    """Something of a file: the `text`, and the `line` it begins on, from 1.

    `what` is code, formula, text (of a paragraph), link (its address), image, or block (of
    Markdown, as it is written).
    """

    what: str
    line: int
    text: str


@dataclass(frozen=True)
class Heading:
    """A heading; `name` is what links call it."""

    line: int
    level: int
    title: str
    name: str


@dataclass(frozen=True)
class Document:
    """A Markdown file; `file` is its name in the folder."""

    file: str
    text: str
    pieces: tuple[Piece, ...]
    headings: tuple[Heading, ...]

    @classmethod
    def parse(cls, file: str, text: str, first_line: int = 1) -> Document:
        """`text` as the page reads it; it begins on `first_line` of the file."""
        reader = make_reader()
        reader.core.ruler.disable("text_join")  # it would join "$" and "\\$", which was meant
        tokens = reader.parse(text)
        pieces = list(_pieces(tokens, text.splitlines(), first_line))
        return cls(file, text, tuple(pieces), tuple(_headings(tokens, first_line)))

    def all(self, what: str) -> list[Piece]:
        """The pieces of one sort, in order."""
        return [piece for piece in self.pieces if piece.what == what]

    def section(self, title: str) -> Piece | None:
        """All that stands under a heading, up to the next that is as high."""
        lines = self.text.splitlines()
        for index, heading in enumerate(self.headings):
            if heading.title == title:
                ends = (h.line for h in self.headings[index + 1 :] if h.level <= heading.level)
                body = lines[heading.line : next(ends, len(lines) + 1) - 1]
                return Piece("block", heading.line, "\n".join(body))
        return None


def _headings(tokens: list[Token], first_line: int) -> Iterator[Heading]:
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.map:
            level, name = int(opening.tag[1:]), str(opening.attrs["id"])
            yield Heading(opening.map[0] + first_line, level, content.content, name)


def _pieces(tokens: list[Token], lines: list[str], first_line: int) -> Iterator[Piece]:
    first, end = 0, 0
    for token in tokens:
        if token.map:
            first, end = token.map
        line = first + first_line
        if token.type in ("paragraph_open", "table_open"):
            yield Piece("block", line, "\n".join(lines[first:end]))
        elif token.type == "fence":
            yield Piece("code", line + 1, token.content)
        elif token.type == "code_block":
            yield Piece("code", line, token.content)
        elif token.type == "math_block":
            yield Piece("formula", line, token.content)
        elif token.type == "inline":
            yield from _inline(token.children or [], lines[first:end], line)


def _inline(children: list[Token], lines: list[str], first_line: int) -> Iterator[Piece]:
    """The pieces of a paragraph, a heading or a cell; its tokens do not know their lines."""
    source, position = "\n".join(lines), 0
    for token in children:
        what, written, text = _seen(token)
        found = source.find(written, position)
        if found >= 0:
            position = found
        line = first_line + source.count("\n", 0, position)
        if found >= 0:
            position += len(written)
        if what:
            yield Piece(what, line, text)


def _seen(token: Token) -> tuple[str, str, str]:
    """What a token is (nothing of interest: ""), how it begins in the source, and its text."""
    text = token.content
    match token.type:
        case "code_inline":
            seen = ("code", text, text)
        case "math_inline":
            seen = ("formula", f"${text}$", text)
        case "text":
            seen = ("text", text, text)
        case "image":
            seen = ("image", "![", str(token.attrs.get("src", "")))
        case "link_open":
            sign = "<" if token.info == "auto" else "["
            seen = ("link", sign, str(token.attrs.get("href", "")))
        case "softbreak" | "hardbreak":
            seen = ("", "\n", "")
        case _:
            seen = ("", text, "")
    return seen
