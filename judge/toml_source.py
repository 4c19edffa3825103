"""A TOML file that can still say on which line a value stands.

`tomllib` forgets positions. They are found again only when an error needs one: the file is
parsed statement by statement, and a value stands on the line whose statement made it appear.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property

Location = tuple[str | int, ...]
Tree = dict[str, object]


class TomlError(Exception):
    """The text is not TOML; `line` is where the parser gave up."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class TomlSource:
    """The parsed `tree` of a TOML file and the `text` it came from."""

    text: str
    tree: Tree

    @classmethod
    def parse(cls, text: str) -> TomlSource:
        """Parse `text`; raises `TomlError`."""
        try:
            return cls(text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            message, line = _message_and_line(str(error), text)
            raise TomlError(message, line) from None

    def line_of(self, location: Location) -> int:
        """Line, from 1, of the value at `location`, or of the innermost table around it."""
        for length in range(len(location), 0, -1):
            for line, tree in self._statements:
                if _exists(tree, location[:length]):
                    return line
        return 1

    @cached_property
    def _statements(self) -> list[tuple[int, Tree]]:
        """Each statement's first line, and everything the file says up to its end."""
        lines = self.text.splitlines(keepends=True)
        statements: list[tuple[int, Tree]] = []
        first = 0
        for end in range(1, len(lines) + 1):
            if first == end - 1 and _is_blank(lines[first]):
                first = end
                continue
            try:
                statements.append((first + 1, tomllib.loads("".join(lines[:end]))))
            except tomllib.TOMLDecodeError:
                continue  # in the middle of a statement over several lines
            first = end
        return statements


def _is_blank(line: str) -> bool:
    stripped = line.strip()
    return not stripped or stripped.startswith("#")


def _exists(tree: object, location: Location) -> bool:
    for key in location:
        children = dict(enumerate(tree)) if isinstance(tree, list) else tree
        if not isinstance(children, dict) or key not in children:
            return False
        tree = children[key]
    return True


def _message_and_line(message: str, text: str) -> tuple[str, int]:
    """Split "Invalid value (at line 3, column 7)" into its words and its line."""
    words, _, position = message.rpartition(" (at ")
    number = position.removeprefix("line ").partition(",")[0]
    if number.isdigit():
        return words, int(number)
    return words or message, max(1, len(text.splitlines()))
