"""What a test and the program in the box say to each other."""

from __future__ import annotations

from msgspec import Struct


class Do(Struct, frozen=True, tag="do"):
    """Execute `code` in the box; it leaves what it found in `answer`."""

    code: str


class Said(Struct, frozen=True, tag="said"):
    """The answer as text, or the exception's type and message."""

    text: str
