"""What is shown while a submission is judged: a live list on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table as Grid
from rich.text import Text

from judge.events import (
    CheckFinished,
    MutantFinished,
    Queued,
    Restarted,
    Started,
    StreamEvent,
    TierFinished,
    TierStarted,
)
from judge.render import advisory_mark, safe, verdict_text
from judge.verdicts import Verdict


class TitledTier(Protocol):
    """A tier, as far as it is shown."""

    @property
    def id(self) -> str:
        """Its name in events."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def advisory(self) -> bool:
        """Whether it counts for nothing."""


class Tiered(Protocol):
    """A problem, known here or to a service only; or what stands in its place."""

    @property
    def tiers(self) -> Sequence[TitledTier]:
        """Its tiers, in order."""


class Progress(Protocol):
    """Follows submissions, one after another."""

    def starting(self) -> AbstractContextManager[object]:
        """Show, while entered, that the sandbox is being started."""

    def following(self, problem: Tiered, label: str) -> AbstractContextManager[Listener]:
        """Show, while entered, what happens to the submission called `label`."""


class Listener(Protocol):
    """Takes the events of one submission, in order."""

    def __call__(self, event: StreamEvent) -> None:
        """Show what happened."""


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Show nothing."""
        yield

    @contextmanager
    def following(self, problem: Tiered, label: str) -> Iterator[Listener]:
        """Show nothing."""
        del problem, label
        yield lambda _event: None


class LineProgress:
    """One line for each finished tier, one before they come again, and one per place in line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Say so in a line."""
        self._console.print(Text("starting the sandbox"))
        yield

    @contextmanager
    def following(self, problem: Tiered, label: str) -> Iterator[Listener]:
        """Print a line when a tier is finished, judging begins again or the queue has moved."""
        titles = {tier.id: tier.title + advisory_mark(tier.advisory) for tier in problem.tiers}
        told_ahead = 0

        def listen(event: StreamEvent) -> None:
            nonlocal told_ahead
            match event:
                case TierFinished(tier=tier, verdict=verdict) if tier in titles:
                    count = "" if verdict is Verdict.SK else f" {event.passed}/{event.total}"
                    say(f"{tier} {titles[tier]}: {verdict.value}{count}")
                case Restarted():
                    say("judging again")
                case Queued(ahead=ahead) if ahead and ahead != told_ahead:
                    told_ahead = ahead
                    say(waiting_words(ahead))

        def say(words: str) -> None:
            self._console.print(Text(safe(f"{label}: {words}")))

        yield listen


class LiveProgress:
    """The tiers as a list whose lines settle one after another; gone when the report is printed."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def starting(self) -> AbstractContextManager[object]:
        """Show a spinner."""
        return self._console.status(Text("starting the sandbox"))

    @contextmanager
    def following(self, problem: Tiered, label: str) -> Iterator[Listener]:
        """Show the tiers, and in the one that runs how many checks are done."""
        board = _Board(problem, label)
        with Live(board, console=self._console, transient=True, refresh_per_second=12) as live:

            def listen(event: StreamEvent) -> None:
                board.take(event)
                live.refresh()

            yield listen


class _Board:
    """The state of the live list."""

    def __init__(self, problem: Tiered, label: str) -> None:
        self._problem = problem
        self._name = self._label = label
        self._running: str | None = None
        self._done = ""  # of the tier that runs: how many checks, or mutants of how many
        self._checks_done = 0
        self._finished: dict[str, TierFinished] = {}
        self._spinner = Spinner("dots")

    def take(self, event: StreamEvent) -> None:
        """Update the list."""
        if isinstance(event, TierStarted):
            self._running, self._checks_done, self._done = event.tier, 0, ""
        elif isinstance(event, CheckFinished):
            self._checks_done += 1
            self._done = str(self._checks_done)
        elif isinstance(event, MutantFinished):
            self._done = f"mutant {event.done} of {event.total}"
        elif isinstance(event, TierFinished):
            self._running = None
            self._finished[event.tier] = event
        elif isinstance(event, Restarted):
            self._running = None
            self._finished.clear()
            self._label = f"{self._name}: judging again"
        elif isinstance(event, Queued):
            self._label = f"{self._name}: {waiting_words(event.ahead)}"
        elif isinstance(event, Started):
            self._label = self._name

    def __rich__(self) -> RenderableType:
        grid = Grid.grid(padding=(0, 2))
        grid.add_row(self._spinner, Text(safe(self._label), "bold"), Text())
        for tier in self._problem.tiers:
            name = f"{tier.id} {tier.title}{advisory_mark(tier.advisory)}"
            grid.add_row(self._mark(tier.id), Text(name), self._count(tier.id))
        return grid

    def _mark(self, tier: str) -> RenderableType:
        if tier in self._finished:
            return verdict_text(self._finished[tier].verdict)
        return self._spinner if tier == self._running else Text("·", "bright_black")

    def _count(self, tier: str) -> Text:
        finished = self._finished.get(tier)
        if finished and finished.verdict is not Verdict.SK:
            return Text(f"{finished.passed}/{finished.total}")
        return Text(self._done if tier == self._running else "")


def waiting_words(ahead: int) -> str:
    """What is said of a submission in the queue."""
    return f"waiting, {ahead} ahead" if ahead else "waiting, next in line"
