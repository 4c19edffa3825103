"""A result for people: what a terminal, or a file a terminal's output is sent to, shows.

The order is the order of a reader's questions: accepted or not, where, what should hold, what was
found, which known mistake it looks like, why it matters, how to see it again. Text that a
submission shaped is never read as markup and never reaches the terminal raw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from judge.results import CheckResult, Detail, Diagnosis, Frame, Output, Result, Table, TierResult
from judge.verdicts import Verdict
from sandbox.text import printable

SYMBOLS = {Verdict.AC: "✓", Verdict.SK: "–", Verdict.JE: "!"}  # noqa: RUF001 - a dash: not run
STYLES = {
    Verdict.AC: "green",
    Verdict.TLE: "yellow",
    Verdict.MLE: "yellow",
    Verdict.OLE: "yellow",
    Verdict.SK: "bright_black",
    Verdict.JE: "magenta",
}
FAILED_SYMBOL = "✗"
FAILED_STYLE = "red"
MAX_OUTPUT_LINES = 20
MAX_OTHER_FAILURES = 8
FIELD_WIDTH = 12
SIDE_GAP = 4


def report(result: Result, label: str) -> RenderableType:
    """Everything about one submission, called `label`, that the result itself says.

    What only the caller knows (how to replay it, where charts are) is said by `note`s after it.
    """
    parts: list[RenderableType] = [headline(result, label), tier_table(result.tiers)]
    failing = first_failing_check(result)
    if failing:
        tier, check = failing
        parts += [Text(), *failing_check(tier, check, result.diagnosis)]
        parts += _others([other for _, other in failing_checks(result) if other is not check])
    if result.output.text:
        parts += [Text(), *printed_output(result.output)]
    return Group(*parts)


def headline(result: Result, label: str) -> Text:
    """One line: the verdict, where it was decided, the score, the time and where it ran."""
    line = Text.assemble(verdict_text(result.verdict), " ", (safe(label), "bold"))
    tier = next((tier for tier in result.tiers if tier.verdict is result.verdict), None)
    where = f"{result.verdict.words} at {tier.id} {tier.title}" if tier else result.verdict.words
    accepted = result.verdict is Verdict.AC
    facts = [
        result.verdict.words if accepted else safe(where),
        f"score {result.score:.2f}",
        f"{result.timing.judged_ms:.0f} ms",
        safe(result.environment.sandbox),
    ]
    return line.append("  " + " · ".join(facts))


def tier_table(tiers: Sequence[TierResult]) -> Grid:
    """One row per tier: verdict, id, title, how many checks passed."""
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    for tier in tiers:
        count = "not run" if tier.verdict is Verdict.SK else f"{tier.passed}/{tier.total}"
        grid.add_row(
            Text.assemble("  ", verdict_text(tier.verdict)), Text(safe(tier.id), "bold"),
            Text(safe(tier.title)), Text(count),
        )  # fmt: skip
    return grid


def first_failing_check(result: Result) -> tuple[TierResult, CheckResult] | None:
    """The check that decided the verdict, with its tier; None when no check failed."""
    return next(failing_checks(result), None)


def failing_checks(result: Result) -> Iterator[tuple[TierResult, CheckResult]]:
    """All checks that ran and were not accepted, in order."""
    for tier in result.tiers:
        for check in tier.checks:
            if check.verdict not in (Verdict.AC, Verdict.SK):
                yield tier, check


def note(name: str, lines: Sequence[str]) -> Text:
    """Lines to be copied whole, hence never wrapped: print them with `soft_wrap=True`."""
    margin = " " * (2 + FIELD_WIDTH + 2)
    text = Text(f"  {name:<{FIELD_WIDTH}}  ", "bright_black")
    return text.append(f"\n{margin}".join(map(safe, lines)), "not dim default")


def printed_output(output: Output) -> Iterator[RenderableType]:
    """What the submission printed, its first lines at least."""
    lines = safe(output.text).splitlines()
    cut = output.truncated or len(lines) > MAX_OUTPUT_LINES
    shown = lines[:MAX_OUTPUT_LINES] + (["..."] if cut else [])
    yield _field("printed", Text("\n".join(shown), "bright_black"))


def verdict_text(verdict: Verdict) -> Text:
    """The verdict as symbol and code, in its colour, always five columns wide."""
    style = STYLES.get(verdict, FAILED_STYLE)
    return Text(f"{SYMBOLS.get(verdict, FAILED_SYMBOL)} {verdict.value:<3}", f"bold {style}")


def safe(text: str) -> str:
    """`text` without anything a terminal obeys; what was made safe before stays as it is."""
    return printable(text).expandtabs(4)


# --- one failing check --------------------------------------------------------------------------


def failing_check(
    tier: TierResult, check: CheckResult, diagnosis: Sequence[Diagnosis]
) -> Iterator[RenderableType]:
    """One check that was not accepted: its sentence, what was found, hints, why it matters.

    Code that was not even imported broke no check in particular, so its sentence is left out.
    """
    style = STYLES.get(check.verdict, FAILED_STYLE)
    found = _field("found", Text(safe(check.message or check.verdict.words), style))
    if check.verdict is Verdict.CE:
        yield found
        yield from _detail(check.detail or Detail())
        return
    name = Text.assemble(verdict_text(check.verdict), f" {tier.id} > ", (safe(check.id), "bold"))
    yield name.append(f"  {safe(check.kind)}", "bright_black")
    yield _field("should hold", Text(safe(check.title)))
    yield found
    if check.detail:
        yield from _detail(check.detail)
    for known in diagnosis:
        yield _field("hint", Text(safe(known.hint), "cyan"))
    if check.why:
        yield _field("why", Text(safe(check.why)))


def _others(others: Sequence[CheckResult]) -> Iterator[RenderableType]:
    lines = [safe(check.id) for check in others[:MAX_OTHER_FAILURES]]
    more = len(others) - len(lines)
    if more > 0:
        lines.append(f"... and {more} more")
    if lines:
        yield _field("also failing", Text("\n".join(lines)))


def _detail(detail: Detail) -> Iterator[RenderableType]:
    if isinstance(detail.expected, str):
        yield _field("expected", Text(safe(detail.expected)))
    if isinstance(detail.got, str):
        yield _field("got", Text(safe(detail.got)))
    windows = [
        array_window(part, name)
        for name, part in (("expected", detail.expected), ("got", detail.got))
        if isinstance(part, Table)
    ]
    if windows:
        yield _field("values", SideBySide(windows))
    if detail.frames:
        yield _field("where", Text("\n").join(_frame(frame) for frame in detail.frames))


class SideBySide:
    """Texts beside each other where the terminal is wide enough, else one below the other."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(map(len, text.plain.splitlines())) for text in self._texts]
        if sum(widths) + SIDE_GAP * (len(widths) - 1) > options.max_width:
            yield Text("\n").join(self._texts)
            return
        grid = Grid.grid(padding=(0, SIDE_GAP))
        grid.add_row(*self._texts)
        yield grid

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


def array_window(table: Table, name: str) -> Text:
    """A window of an array as aligned columns; `*` marks the entries outside the limit."""
    cells = [
        [f"{'*' if wrong else ''}{safe(entry)}" for entry, wrong in zip(row, marks, strict=True)]
        for row, marks in zip(table.rows, table.differs, strict=True)
    ]
    header = [str(label) for label in table.column_labels]
    labels = [str(label) for label in table.row_labels]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    margin = max((len(label) for label in labels), default=0)
    text = Text(f"{name} {window_title(table)}\n", no_wrap=True)
    text.append(" " * margin + _row(header, widths), "bright_black")
    for label, row, marks in zip(labels, cells, table.differs, strict=True):
        text.append(f"\n{label:>{margin}}", "bright_black")
        for entry, width, wrong in zip(row, widths, marks, strict=True):
            text.append(f"  {entry:>{width}}", f"bold {FAILED_STYLE}" if wrong else "")
    return text


def window_title(table: Table) -> str:
    """Dtype and shape, and which part of the array the window is in: "float64[2, 3, 4] at [0]"."""
    where = f" at {table.prefix}" if table.prefix else ""
    return f"{safe(table.dtype)}{table.shape}{where}"


def _row(entries: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"  {entry:>{width}}" for entry, width in zip(entries, widths, strict=True))


def _frame(frame: Frame) -> Text:
    """One line of the submission, with a caret where the column is known."""
    text = Text(f"{safe(frame.file)}:{frame.line}")
    if frame.function:
        text.append(f" in {safe(frame.function)}")
    source = frame.text.strip()
    if source:
        text.append(f"\n    {safe(source)}", "bright_black")
        before = (frame.column or 0) - 1 - frame.text.find(source)
        if before >= 0:
            text.append("\n    " + " " * cell_len(safe(source[:before])) + "^", "bold red")
    return text


def _field(name: str, content: RenderableType) -> RenderableType:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="bright_black", no_wrap=True, width=FIELD_WIDTH)
    grid.add_column(overflow="fold")
    grid.add_row(Text(name, "bright_black"), content)
    return Padding(grid, (0, 0, 0, 2), expand=False)
