"""Server-sent events, as bytes from a stream become frames.

Lines end with a line feed, with or without a carriage return. Nothing else ends one: text inside
JSON may well hold characters that Python's `splitlines` takes for an end of line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One event: `id` is None where the server gave none, so the last one still holds."""

    id: str | None
    event: str
    data: str


def frames(chunks: Iterable[bytes]) -> Iterator[Frame | None]:
    """The frames in a stream of bytes; None for each comment, which is a sign of life.

    A frame that the end of the stream cuts short is dropped: it will come again.
    """
    fields: dict[str, str] = {}
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield Frame(fields.get("id"), fields.get("event", "message"), "\n".join(data))
            fields, data = {}, []
        elif line.startswith(":"):
            yield None
        else:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            else:
                fields[name] = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
