"""Proofs in a terminal: a row for each problem, and below it what does not hold.

Print them with `judge.render.show`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from judge.proof.outcomes import Case, Finding, MadeMutant, Proof
from judge.proof.reports.figures import (
    EQUIVALENT_REMEDY,
    Counts,
    held_in_words,
    kill_rate,
    milliseconds,
    name,
    named_mutants,
    seconds,
    share,
    slow,
    state,
    tight,
)
from judge.render import CUT, FAILED_STYLE, FAILED_SYMBOL, Field, safe
from sandbox.text import one_line

HELD, SKIPPED, ADVICE = "✓", "–", "!"  # noqa: RUF001 - a dash: not tried
QUIET = "bright_black"
MAX_SURVIVORS = 20
MAX_ROWS = 8  # of tight comparisons, and of slow checks


def overview(proofs: Sequence[Proof]) -> RenderableType:
    """One row for each problem: proven or not, its cases, what its checks are worth, the time."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style=QUIET, pad_edge=False)
    for title in ("problem", "", "cases"):
        grid.add_column(title, overflow="fold")
    grid.add_column("made mutants killed", overflow="fold")
    grid.add_column("named", overflow="fold")
    for title in ("seeds", "time"):
        grid.add_column(title, justify="right", no_wrap=True)
    for proof in proofs:
        grid.add_row(
            Text(one_line(proof.problem), "bold"), _state(proof),
            Text(str(Counts.of(proof.cases))), Text(kill_rate(proof)), Text(named_mutants(proof)),
            Text(str(proof.seeds)), Text(seconds(proof.wall_s)),
        )  # fmt: skip
    return grid


def details(proof: Proof) -> Iterator[RenderableType]:
    """What does not hold, with file, line and what to do; survivors; and what holds, in a line."""
    yield Text.assemble(_state(proof), "  ", (one_line(proof.problem), "bold"))
    for case in proof.cases:
        if case.findings or case.skipped:
            yield _case(case)
    yield from _survivors(proof.survivors)
    yield from _tight(proof)
    yield from _slow(proof)
    held = held_in_words(proof)
    if held:
        yield Field(f"{HELD} holds", Text(held))


def _state(proof: Proof) -> Text:
    if not proof.proven:
        return Text(f"{FAILED_SYMBOL} {state(proof)}", f"bold {FAILED_STYLE}")
    return Text(f"{HELD} {state(proof)}", "bold green")


def _case(case: Case) -> RenderableType:
    """One case that failed, was skipped, or has advice."""
    if case.skipped:
        words = f"{SKIPPED} {name(case)} was not tried: {one_line(case.skipped)}"
        return Padding(Text(words, QUIET), (0, 0, 0, 2))
    symbol, style = (FAILED_SYMBOL, FAILED_STYLE) if case.failed else (ADVICE, "yellow")
    title = Text.assemble((f"{symbol} ", f"bold {style}"), (name(case), "bold"))
    findings = [part for finding in case.findings for part in _finding(finding)]
    return Group(Padding(title, (0, 0, 0, 2)), *findings)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    where = Text(f"{one_line(finding.file)}:{finding.line}: ")
    style = "yellow" if finding.advice else FAILED_STYLE
    yield Padding(where.append(safe(finding.message), style), (0, 0, 0, 4))
    if finding.remedy:
        yield Padding(Text(safe(finding.remedy)), (0, 0, 0, 8))


def _survivors(survivors: Sequence[MadeMutant]) -> Iterator[RenderableType]:
    if not survivors:
        return
    count = f"{len(survivors)} made mutant{'' if len(survivors) == 1 else 's'}"
    title = Text(f"{ADVICE} no check notices {count}", "bold yellow")
    yield Padding(title, (0, 0, 0, 2))
    yield Padding(Text(f"for each: {EQUIVALENT_REMEDY}"), (0, 0, 0, 4))
    for mutant in survivors[:MAX_SURVIVORS]:
        heading = f"{one_line(mutant.id)}, line {mutant.line}: {one_line(mutant.operator)}"
        yield Padding(Text(heading, QUIET), (0, 0, 0, 4))
        yield Padding(_diff(mutant.diff), (0, 0, 0, 6))
    yield from _more(len(survivors) - MAX_SURVIVORS)


def _diff(diff: str) -> Text:
    """A unified diff in colour; what only names files in it is left out."""
    styles = {"-": FAILED_STYLE, "+": "green", "@": QUIET}
    lines = [line for line in safe(diff).splitlines() if not line.startswith(("--- ", "+++ "))]
    return Text("\n").join(Text(line, styles.get(line[:1], "")) for line in lines)


def _tight(proof: Proof) -> Iterator[RenderableType]:
    rows = sorted(filter(tight, proof.headroom), key=lambda each: -each.reference)
    for row in rows[:MAX_ROWS]:
        reaches = f"the reference reaches {share(row.reference)} of the limit"
        words = f"{row.check}, {row.what} in {row.dtype}: {reaches}"
        if row.nearest is not None:
            words += f", the nearest mistake ({row.nearest_mutant}) {share(row.nearest)}"
        yield Field("tight", Text(one_line(words)))
    yield from _more(len(rows) - MAX_ROWS)


def _slow(proof: Proof) -> Iterator[RenderableType]:
    rows = sorted(filter(slow, proof.times), key=lambda each: -each.longest_ms)
    for row in rows[:MAX_ROWS]:
        longest, median = milliseconds(row.longest_ms), milliseconds(row.median_ms)
        words = f"{row.tier} > {row.check}: up to {longest} on the reference, {median} as a rule"
        yield Field("slow", Text(one_line(words)))
    yield from _more(len(rows) - MAX_ROWS)


def _more(count: int) -> Iterator[RenderableType]:
    if count > 0:
        yield Padding(Text(f"{CUT} and {count} more", QUIET), (0, 0, 0, 4))
