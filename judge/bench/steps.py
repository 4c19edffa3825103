"""How far a measurement has come: a bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

LINES = 10  # in a pipe, for the whole of it


class Steps(Protocol):
    """Hears of progress; may be told from several threads."""

    def done(self) -> None:
        """One more step is done."""


class _BarSteps:
    def __init__(self, bar: Bar, words: str, total: int) -> None:
        self._bar = bar
        self._task = bar.add_task(words, total=total)

    def done(self) -> None:
        self._bar.advance(self._task)


class _LineSteps:
    def __init__(self, console: Console, words: str, total: int) -> None:
        self._console = console
        self._words = words
        self._total = total
        self._count = 0

    def done(self) -> None:
        self._count += 1
        if self._count == self._total or self._count % max(self._total // LINES, 1) == 0:
            self._console.print(Text(f"{self._words}: {self._count}/{self._total}"))


@contextmanager
def stepping(console: Console, words: str, total: int) -> Iterator[Steps]:
    """Show, while entered, how many of `total` steps are done."""
    if not console.is_terminal:
        yield _LineSteps(console, words, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        yield _BarSteps(bar, words, total)
