"""Pieces of HTML that the proof's pages are made of. Every text passes through `text`."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from judge.proof.outcomes import CheckTime, Finding, Headroom
from sandbox.text import printable

STYLE = Path(__file__).with_name("page.css")
# A page shows what it brings: it runs nothing, and asks nobody for anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
LEAST_EXPONENT, DECADES = -8, 12  # of the scale of shares: from 1e-8 to 1e4, the limit at 1
_TRACK = 240  # units of a drawing across; it is stretched to the width there is


def document(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    return "\n".join([
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{text(title)}</title>",
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>",
        "</head>",
        "<body>",
        "<main>",
        *body,
        "</main>",
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip


def text(words: str) -> str:
    """`words` as themselves, in content and in attributes."""
    return html.escape(printable(words))


def code(words: str) -> str:
    """`words` as code in text."""
    return f"<code>{text(words)}</code>"


def section(title: str, about: str, content: Iterable[str]) -> str:
    """A part of the page; `about` is a sentence of ours that says what it shows."""
    sentence = f'<p class="quiet">{about}</p>\n' if about else ""
    return f"<section>\n<h2>{title}</h2>\n{sentence}{''.join(content)}</section>"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself; the cells, whole elements, are markup already."""
    titles = "".join(f'<th scope="col"{_number(title)}>{title.strip()}</th>' for title in head)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    content = f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    return region(caption, content)


def region(caption: str, content: str, kind: str = "") -> str:
    """The content of a table as one, in a frame that can be scrolled with the keyboard, too."""
    label = text(caption)
    return (
        f'<div class="scroll {kind}" tabindex="0" role="region" aria-label="{label}">'
        f'<table><caption class="visually-hidden">{label}</caption>\n{content}\n</table></div>\n'
    )


def _number(title: str) -> str:
    """Titles of columns of numbers end in a blank."""
    return ' class="number"' if title.endswith(" ") else ""


def cell(content: str, kind: str = "") -> str:
    """A cell of markup."""
    return f'<td class="{kind}">{content}</td>' if kind else f"<td>{content}</td>"


def row_head(content: str) -> str:
    """The cell that names its row."""
    return f'<th scope="row">{content}</th>'


def fold(summary: str, content: str, *, opened: bool = False) -> str:
    """What is there for whoever asks."""
    state = " open" if opened else ""
    return f'<details class="fold"{state}><summary>{summary}</summary>\n{content}</details>\n'


def mark(symbol: str, words: str, kind: str) -> str:
    """A symbol with the words that it stands for."""
    return (
        f'<span class="mark {kind}" aria-hidden="true">{symbol}</span>'
        f'<span class="visually-hidden">{words}</span>'
    )


def finding(found: Finding, title: str) -> str:
    """One finding: of which case, what, where, and what to do."""
    kind = ' class="advice"' if found.advice else ""
    said, _, about = found.message.partition("\n")
    words, _, lines = found.remedy.partition("\n")
    remedy = f'<p class="remedy">{text(words)}</p>' if words else ""
    return (
        f"<li{kind}><h3>{text(title)}</h3>"
        f'<p class="place">{text(found.file)}:{found.line}</p>'
        f"<p>{text(said)}</p>{diff(about) if about else ''}"
        f"{remedy}{_block(text(lines.rstrip()), 'to copy') if lines else ''}</li>\n"
    )


def diff(lines: str) -> str:
    """A unified diff, without the lines that only name files."""
    kinds = {"-": "minus", "+": "plus", "@": "quiet"}
    shown = [line for line in lines.splitlines() if not line.startswith(("--- ", "+++ "))]
    body = "".join(f'<span class="{kinds.get(line[:1], "")}">{text(line)}</span>' for line in shown)
    return _block(body, "diff")


def _block(content: str, label: str) -> str:
    """Lines of markup that scroll by themselves."""
    return f'<pre class="block" tabindex="0" aria-label="{label}"><code>{content}</code></pre>'


# --- drawings -------------------------------------------------------------------------------------


def track(headroom: Headroom) -> str:
    """How far the reference stays below a limit, and the nearest mistake above: logarithmic."""
    limit, reference = _place(1.0), _place(headroom.reference)
    parts = [
        f'<line class="rail" x1="0" x2="{_TRACK}" y1="10" y2="10"/>',
        f'<line class="limit-line" x1="{limit:.1f}" x2="{limit:.1f}" y1="2" y2="18"/>',
        f'<line class="reference" x1="0" x2="{reference:.1f}" y1="10" y2="10"/>',
        f'<circle cx="{reference:.1f}" cy="10" r="4"/>',
    ]
    if headroom.nearest is not None:
        x = _place(headroom.nearest)
        parts.append(f'<path class="mutant" d="M{x:.1f} 5l5 5-5 5-5-5z"/>')
    return _drawing("track", 20, parts)


def bar(time: CheckTime, longest_ms: float) -> str:
    """A check's time as a bar, its longest behind it; `longest_ms` is that of the widest bar."""
    scale = _TRACK / longest_ms if longest_ms > 0 else 0.0
    parts = [
        f'<rect class="{kind}" width="{max(1.0, ms * scale):.1f}" height="8" rx="2"/>'
        for kind, ms in (("longest", time.longest_ms), ("median", time.median_ms))
    ]
    return _drawing("bar", 8, parts)


def stack(parts: Sequence[tuple[str, int]]) -> str:
    """Parts of a whole, beside each other, each by its colour and its size."""
    shares = (f'<span class="{kind}" style="flex:{size}"></span>' for kind, size in parts if size)
    return f'<div class="stack" aria-hidden="true">{"".join(shares)}</div>\n'


def _place(share: float) -> float:
    """Where a share of the limit is on the scale, in units."""
    if math.isnan(share):
        return 0.0
    exponent = math.log10(share) if 0 < share < math.inf else math.copysign(99, share - 1)
    along = (exponent - LEAST_EXPONENT) / DECADES
    return 4 + (_TRACK - 8) * min(1.0, max(0.0, along))


def _drawing(kind: str, height: int, parts: Sequence[str]) -> str:
    stretched = ' preserveAspectRatio="none"' if kind == "bar" else ""
    return (
        f'<svg class="{kind}" viewBox="0 0 {_TRACK} {height}"{stretched} aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
