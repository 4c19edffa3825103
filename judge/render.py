"""A result for people: what a terminal, or a file a terminal's output is sent to, shows.

The order is the order of a reader's questions: accepted or not, where, what should hold, what was
found, which known mistake it looks like, why it matters, how to see it again. Text that a
submission shaped is never read as markup and never reaches the terminal raw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from judge.results import (
    CheckResult,
    Detail,
    Diagnosis,
    Frame,
    Mutation,
    Output,
    Result,
    Table,
    TierResult,
)
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
MAX_LINES = 20  # of one text that a submission shaped, as they stand on the screen
MAX_OTHER_FAILURES = 8
FIELD_WIDTH = 14
SIDE_GAP = 4
NARROW = 60  # columns: below that, nothing stands beside anything
LEGEND = "* beyond the limit"
CUT = "..."


def report(result: Result, label: str) -> RenderableType:
    """Everything about one submission, called `label`, that the result itself says.

    What only the caller knows (how to replay it, where charts are) is said by `note`s after it.
    """
    parts: list[RenderableType] = [headline(result, label), tier_table(result.tiers)]
    if result.mutation is not None:
        parts += [Text(), *mutation_report(result.mutation)]
    parts += _failures(list(failing_checks(result)), result.diagnosis)
    parts += _failures(list(failing_checks(result, advisory=True)), [])
    if result.output.text:
        parts += [Text(), *printed_output(result.output)]
    return Group(*parts)


def headline(result: Result, label: str) -> Text:
    """One line: the verdict, where it was decided, the score, the time and where it ran."""
    verdict = result.outcome
    line = Text.assemble(verdict_text(verdict), " ", (safe(label), "bold"))
    counting = (tier for tier in result.tiers if not tier.advisory)
    tier = next((tier for tier in counting if tier.verdict is verdict), None)
    where = f"{verdict.words} at {tier.id} {tier.title}" if tier else verdict.words
    facts = [
        verdict.words if verdict is Verdict.AC else safe(where),
        f"score {result.score:.2f}",
        f"{result.timing.judged_ms:.0f} ms",
        safe(result.environment.sandbox),
    ]
    return line.append("  " + " · ".join(facts))


def tier_table(tiers: Sequence[TierResult]) -> Grid:
    """One row per tier: verdict, id, title, how many checks passed.

    What an advisory tier found is without colour, since it counts for nothing.
    """
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    for tier in tiers:
        verdict = tier.verdict or Verdict.SK
        count = "not run" if verdict is Verdict.SK else f"{tier.passed}/{tier.total}"
        shown = verdict_text(verdict)
        if tier.advisory and verdict is not Verdict.AC:
            shown = Text(shown.plain, "bright_black")
        grid.add_row(
            Text.assemble("  ", shown), Text(safe(tier.id), "bold"),
            Text(safe(tier.title) + advisory_mark(tier.advisory)), Text(count),
        )  # fmt: skip
    return grid


def mutation_report(mutation: Mutation) -> Iterator[RenderableType]:
    """Which of a student's tests notice which mistake, the score, and what nobody noticed."""
    # Rounded down, so that what is not enough never looks like it.
    score, threshold = (f"{int(100 * share)} %" for share in (mutation.score, mutation.threshold))
    total = len(mutation.mutants)
    if total:  # else they came to no grade
        killed = total - len(mutation.survivors)
        words = f"{killed} of {total} mistakes noticed, {score}; {threshold} needed"
        yield Field("score", Text(words))
        yield Field("noticed by", kill_matrix(mutation))
    for name in mutation.survivors:
        must = ", which may not be missed" if name in mutation.must_kill else ""
        symptom = safe(mutation.symptoms.get(name, ""))
        yield Field("not noticed", Text(f"{safe(name)}{must}: {symptom}", FAILED_STYLE))
    for name in mutation.flaky:
        yield Field("not reliable", Text(safe(name), "yellow"))


def kill_matrix(mutation: Mutation) -> Grid:
    """A row for each test, a column for each mutant: x where the test failed on it."""
    grid = Grid.grid(padding=(0, 1))
    grid.add_column()
    for _ in mutation.mutants:
        grid.add_column(justify="center", no_wrap=True)
    grid.add_row(Text(), *(Text(safe(name), "bright_black") for name in mutation.mutants))
    for test, row in zip(mutation.tests, mutation.matrix, strict=True):
        marks = (Text("x", "green") if killed else Text("·", "bright_black") for killed in row)
        grid.add_row(Text(safe(test)), *marks)
    return grid


def first_failing_check(result: Result) -> tuple[TierResult, CheckResult] | None:
    """The check that decided the verdict, with its tier; None when no check failed."""
    return next(failing_checks(result), None)


def failing_checks(
    result: Result, *, advisory: bool = False
) -> Iterator[tuple[TierResult, CheckResult]]:
    """The checks that ran and were not accepted, in order: of the tiers that count, or the rest."""
    for tier in result.tiers:
        for check in tier.checks if tier.advisory is advisory else ():
            if check.verdict not in (Verdict.AC, Verdict.SK):
                yield tier, check


def note(name: str, lines: Sequence[str]) -> Text:
    """Lines to be copied whole, hence never wrapped: print them with `soft_wrap=True`."""
    margin = " " * (2 + FIELD_WIDTH + 2)
    text = Text(f"  {name:<{FIELD_WIDTH}}  ", "bright_black")
    return text.append(f"\n{margin}".join(map(safe, lines)), "not dim default")


def printed_output(output: Output) -> Iterator[RenderableType]:
    """What the submission printed, its first lines at least."""
    text = Text(safe(output.text).rstrip("\n"), "bright_black")
    yield Field("printed", Capped(text, lost=output.truncated))


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

    Only a wrong answer says that the sentence does not hold; anything else came up while it was
    being checked. Code that was not even imported broke no check in particular, so its sentence is
    left out.
    """
    style = STYLES.get(check.verdict, FAILED_STYLE)
    found = Field("found", Capped(Text(safe(check.message or check.verdict.words), style)))
    wrong = check.verdict is Verdict.WA
    if check.verdict is Verdict.CE:
        yield found
        yield from _detail(check.detail or Detail())
        return
    name = Text.assemble(verdict_text(check.verdict), f" {tier.id} > ", (safe(check.id), "bold"))
    yield name.append(f"  {safe(check.kind)}", "bright_black")
    yield Field("should hold" if wrong else "while checking", Text(safe(check.title)))
    yield found
    if check.detail:
        yield from _detail(check.detail)
    for known in diagnosis:
        yield Field("hint", Text(safe(known.hint), "cyan"))
    if wrong and check.why:
        yield Field("why", Text(safe(check.why)))


def _failures(
    failing: Sequence[tuple[TierResult, CheckResult]], diagnosis: Sequence[Diagnosis]
) -> Iterator[RenderableType]:
    """The first of these checks in full, and of wrong answers the others by name."""
    for tier, check in failing[:1]:
        yield Text()
        if tier.advisory:
            words = f"{tier.id} is advisory: it counts neither for the verdict nor for the score."
            yield Text(safe(words), "bright_black")
        yield from failing_check(tier, check, diagnosis)
        if check.verdict is Verdict.WA:
            yield from _others([other for _, other in failing[1:]])


def advisory_mark(advisory: bool) -> str:
    """What stands behind the title of a tier that counts for nothing."""
    return " (advisory)" if advisory else ""


def _others(others: Sequence[CheckResult]) -> Iterator[RenderableType]:
    lines = [safe(check.id) for check in others[:MAX_OTHER_FAILURES]]
    more = len(others) - len(lines)
    if more > 0:
        lines.append(f"... and {more} more")
    if lines:
        yield Field("also failing", Text("\n".join(lines)))


def _detail(detail: Detail) -> Iterator[RenderableType]:
    if isinstance(detail.expected, str):
        yield Field("expected", Capped(Text(safe(detail.expected))))
    if isinstance(detail.got, str):
        yield Field("got", Capped(Text(safe(detail.got))))
    tables = {"expected": detail.expected, "got": detail.got}
    windows = {name: part for name, part in tables.items() if isinstance(part, Table)}
    if windows:
        yield Field("values", Windows(windows, detail.at[-1] if detail.at else 0))
    if detail.frames:
        yield Field("where", Frames(detail.frames))


class Windows:
    """Windows of arrays by name: beside each other where there is room, else one below the other.

    Columns that do not fit even then are cut, those farthest from the column `focus` first.
    """

    def __init__(self, tables: Mapping[str, Table], focus: int) -> None:
        self._tables = tables
        self._focus = focus

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        texts = [array_window(table, name) for name, table in self._tables.items()]
        room = options.max_width - SIDE_GAP * (len(texts) - 1)
        if console.width >= NARROW and sum(_width(text, 0) for text in texts) <= room:
            grid = Grid.grid(padding=(0, SIDE_GAP))
            grid.add_row(*texts)
            yield grid
        else:
            yield Text("\n").join(self._fitting(options.max_width))
        if any(any(row) for table in self._tables.values() for row in table.differs):
            yield Text(LEGEND, "bright_black")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def _fitting(self, width: int) -> list[Text]:
        tables = dict(self._tables)
        while True:
            texts = [array_window(table, name) for name, table in tables.items()]
            narrowest = max(len(table.column_labels) for table in tables.values()) <= 1
            if narrowest or max(_width(text, 1) for text in texts) <= width:
                return texts
            tables = {name: _narrower(table, self._focus) for name, table in tables.items()}


def array_window(table: Table, name: str) -> Text:
    """A window of an array as aligned columns; `*` marks the entries outside the limit.

    "..." stands for the rows and columns of the array that are outside the window.
    """
    columns = _cut(table.column_labels, table.shape[-1:])
    above, below = _cut(table.row_labels, table.shape[-2:-1])
    cells = [
        _between(
            columns,
            [
                f"{'*' if wrong else ''}{safe(entry)}"
                for entry, wrong in zip(row, marks, strict=True)
            ],
        )
        for row, marks in zip(table.rows, table.differs, strict=True)
    ]
    header = _between(columns, [str(label) for label in table.column_labels])
    labels = [str(label) for label in table.row_labels]
    widths = [max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    margin = max(map(len, [*labels, CUT] if above or below else labels), default=0)
    text = Text(f"{name} {window_title(table)}\n", no_wrap=True)
    text.append(" " * margin + _row(header, widths), "bright_black")
    text.append(f"\n{CUT}" if above else "", "bright_black")
    for label, row in zip(labels, cells, strict=True):
        text.append(f"\n{label:>{margin}}", "bright_black")
        for entry, width in zip(row, widths, strict=True):
            text.append(f"  {entry:>{width}}", f"bold {FAILED_STYLE}" if entry[0] == "*" else "")
    return text.append(f"\n{CUT}" if below else "", "bright_black")


def _cut(labels: Sequence[int], size: Sequence[int]) -> tuple[bool, bool]:
    """Whether an axis of that size, if there is one, goes on before and after these indices."""
    return (labels[0] > 0, labels[-1] < size[0] - 1) if labels and size else (False, False)


def _between(cut: tuple[bool, bool], entries: list[str]) -> list[str]:
    before, after = cut
    return [CUT] * before + entries + [CUT] * after


def _narrower(table: Table, focus: int) -> Table:
    """`table` without its first or last column, whichever is farther from `focus`."""
    labels = table.column_labels
    if len(labels) <= 1:
        return table
    keep = slice(1, None) if focus - labels[0] > labels[-1] - focus else slice(None, -1)
    return table.model_copy(
        update={
            "column_labels": labels[keep],
            "rows": [row[keep] for row in table.rows],
            "differs": [row[keep] for row in table.differs],
        }
    )


def _width(text: Text, first: int) -> int:
    """Columns that `text` takes, from its line number `first`."""
    return max(map(cell_len, text.plain.splitlines()[first:]))


def window_title(table: Table) -> str:
    """Dtype and shape, and which part of the array the window is in: "float64[2, 3, 4] at [0]"."""
    where = f" at {table.prefix}" if table.prefix else ""
    return f"{safe(table.dtype)}{table.shape}{where}"


def _row(entries: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"  {entry:>{width}}" for entry, width in zip(entries, widths, strict=True))


class Frames:
    """Lines of the submission, innermost last; equal ones that follow each other are one."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._frames = frames

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts: list[Text] = []
        for frame, equal in groupby(self._frames):
            parts.append(_frame(frame, options.max_width))
            more = len(list(equal)) - 1
            if more:
                parts.append(Text(f"{CUT} {more} more like this", "bright_black"))
        yield Capped(Text("\n").join(parts), keep_end=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


def _frame(frame: Frame, width: int) -> Text:
    """One line of the submission, with a caret where the column is known and nothing folds."""
    text = Text(f"{safe(frame.file)}:{frame.line}")
    if frame.function:
        text.append(f" in {safe(frame.function)}")
    source = frame.text.strip()
    if source:
        text.append(f"\n    {safe(source)}", "bright_black")
        before = (frame.column or 0) - 1 - frame.text.find(source)
        if before >= 0 and cell_len(safe(source)) < width - 4:
            text.append("\n    " + " " * cell_len(safe(source[:before])) + "^", "bold red")
    return text


# --- layout ---------------------------------------------------------------------------------------


class Capped:
    """Text folded to the width there is, and of the lines that gives at most `MAX_LINES`.

    What is cut is counted; `lost` says that there was more even before. `keep_end` keeps the last
    lines instead of the first.
    """

    def __init__(self, text: Text, *, lost: bool = False, keep_end: bool = False) -> None:
        self._text = text
        self._lost = lost
        self._keep_end = keep_end

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = list(self._text.wrap(console, options.max_width, overflow="fold"))
        more = len(lines) - MAX_LINES
        kept = lines[-MAX_LINES:] if self._keep_end else lines[:MAX_LINES]
        note_of_cut = Text(self._words(more), "bright_black")
        if note_of_cut:
            kept = [note_of_cut, *kept] if self._keep_end else [*kept, note_of_cut]
        yield Text("\n").join(kept)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def _words(self, more: int) -> str:
        if more <= 0:
            return f"{CUT} more, which was not kept" if self._lost else ""
        least = "at least " if self._lost else ""
        return f"{CUT} {least}{more} more line{'' if more == 1 else 's'}"


class Field:
    """A name with its content beside it, or below it where the terminal is narrow."""

    def __init__(self, name: str, content: RenderableType) -> None:
        self._name = Text(name, "bright_black")
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NARROW:
            yield Padding(self._name, (0, 0, 0, 2), expand=False)
            yield Padding(self._content, (0, 0, 0, 4), expand=False)
            return
        grid = Grid.grid(padding=(0, 2))
        grid.add_column(style="bright_black", no_wrap=True, width=FIELD_WIDTH)
        grid.add_column(overflow="fold")
        grid.add_row(self._name, self._content)
        yield Padding(grid, (0, 0, 0, 2), expand=False)


def show(console: Console, renderable: RenderableType, *, soft_wrap: bool = False) -> None:
    """Print; where no terminal is, without the blanks that fill lines up."""
    if console.is_terminal:
        console.print(renderable, soft_wrap=soft_wrap)
        return
    with console.capture() as captured:
        console.print(renderable, soft_wrap=soft_wrap)
    lines = captured.get().split("\n")
    console.file.write("\n".join(line.rstrip(" ") for line in lines))
    console.file.flush()
