"""A TOML file that can still say on which line a value stands.

`tomllib` forgets positions. They are found again only when somebody needs one: the file is parsed
statement by statement, and a value stands on the line whose statement made it appear.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
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
        prefixes = (location[:length] for length in range(len(location), 0, -1))
        return next((self._lines[each] for each in prefixes if each in self._lines), 1)

    @cached_property
    def _lines(self) -> dict[Location, int]:
        """The first line of the statement that makes each value appear."""
        found: dict[Location, int] = {}
        sizes: dict[Location, int] = {}  # of arrays of tables
        table: Location = ()
        for line, statement in self._statements:
            tree = tomllib.loads(statement)
            if statement.lstrip().startswith("["):
                table = _table_of(tree, sizes)
                paths = [table[:length] for length in range(1, len(table) + 1)]
            else:
                paths = [table + path for path in _paths_in(tree)]
            for path in paths:
                found.setdefault(path, line)
        return found

    @property
    def _statements(self) -> Iterator[tuple[int, str]]:
        """Each statement with its first line: a table's header, or a key and its value."""
        lines = self.text.splitlines(keepends=True)
        first = 0
        for end in range(1, len(lines) + 1):
            if first == end - 1 and _is_blank(lines[first]):
                first = end
                continue
            statement = "".join(lines[first:end])
            if _is_whole(statement):
                yield first + 1, statement
                first = end


def _is_whole(statement: str) -> bool:
    """Whether nothing is missing, as it is in the middle of a statement over several lines."""
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _table_of(header: Tree, sizes: dict[Location, int]) -> Location:
    """Where the values after a header belong; counts the tables of arrays in `sizes`."""
    location: Location = ()
    tree: object = header
    while isinstance(tree, dict) and tree:
        key, tree = next(iter(tree.items()))
        location += (key,)
        if isinstance(tree, list):
            sizes[location] = sizes.get(location, 0) + 1
        if location in sizes:
            location += (sizes[location] - 1,)
    return location


def _paths_in(tree: object) -> Iterator[Location]:
    """Locations of all values in a tree, below it."""
    children = dict(enumerate(tree)) if isinstance(tree, list) else tree
    if isinstance(children, dict):
        for key, child in children.items():
            yield (key,)
            yield from ((key, *path) for path in _paths_in(child))


def _is_blank(line: str) -> bool:
    stripped = line.strip()
    return not stripped or stripped.startswith("#")


def _message_and_line(message: str, text: str) -> tuple[str, int]:
    """Split "Invalid value (at line 3, column 7)" into its words and its line."""
    words, _, position = message.rpartition(" (at ")
    number = position.removeprefix("line ").partition(",")[0]
    if number.isdigit():
        return words, int(number)
    return words or message, max(1, len(text.splitlines()))
