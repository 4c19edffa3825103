"""Text from a box never does anything to whoever shows or stores it."""

from __future__ import annotations

import pytest

from sandbox.text import printable


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\0", r"\x00"), ("\x1b", r"\x1b"), ("\r", r"\x0d"), ("\x85", r"\x85"),
        ("\udc00", r"\udc00"), ("\ufffe", r"\ufffe"), ("\u2028", r"\u2028"),
        *((chr(code), f"\\u{code:04x}") for code in range(0x200B, 0x2010)),
        ("\u061c", r"\u061c"), ("\u2060", r"\u2060"), ("\ufeff", r"\ufeff"),
        ("\u202e", r"\u202e"), ("\u2069", r"\u2069"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_shown(character: str, shown: str) -> None:
    assert printable(f"a{character}b") == f"a{shown}b"


@pytest.mark.parametrize("text", ["a\tb\nc", "Größe ≤ 1", "数", "e\u0301", "🙂", "\u2010\u205f"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
