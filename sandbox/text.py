"""Text from inside a box, made safe to store and to show.

PostgreSQL refuses NUL and lone surrogates, terminals obey escape sequences, bidirectional controls
can make a line read as another, and marks without width can make two names look the same. All of
that is replaced by a visible escape here, once, at the border; everything after it may treat the
text as ordinary.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u200b-\u200d\u2060-\u2064\ufeff"  # no width
    "\u2028\u2029"  # line ends that are none
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # no characters
    "]"
)


def printable(text: str, limit: int | None = None) -> str:
    """`text` with every unsafe character as a visible escape, at most `limit` characters."""
    shown = _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))
    if limit is not None and len(shown) > limit:
        return shown[: limit - 1] + "…"
    return shown


def one_line(text: str, limit: int | None = None) -> str:
    """`printable` for names and the like, which a line break would let pass for more than one."""
    return printable(text, limit).replace("\n", "\\n").replace("\t", "\\t")


def printable_bytes(data: bytes, limit: int | None = None) -> str:
    """Bytes that a program wrote, decoded as UTF-8 where they are, made printable."""
    return printable(data.decode("utf-8", errors="backslashreplace"), limit)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
