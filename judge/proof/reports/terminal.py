"""Proofs in a terminal: a row for each problem, and below it what does not hold.

Print them with `judge.render.show`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from judge.proof.outcomes import Case, Finding, Proof
from judge.proof.reports.figures import (
    MAX_FINDINGS,
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
)
from judge.render import CUT, FAILED_STYLE, FAILED_SYMBOL, Field, safe
from sandbox.text import one_line

HELD, SKIPPED, ADVICE = "✓", "–", "!"  # noqa: RUF001 - a dash: not tried
QUIET = "bright_black"
MAX_ROWS = 8  # of close comparisons, and of slow checks


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
    """What does not hold, with file, line and what to do; and what holds, in a line."""
    yield Text.assemble(_state(proof), "  ", (one_line(proof.problem), "bold"))
    for case in proof.cases:
        if case.findings or case.skipped:
            yield _case(case)
    yield from _close(proof)
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
    findings = [part for finding in case.findings[:MAX_FINDINGS] for part in _finding(finding)]
    more = _more(len(case.findings) - MAX_FINDINGS)
    return Group(Padding(title, (0, 0, 0, 2)), *findings, *more)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    where = Text(f"{one_line(finding.file)}:{finding.line}: ")
    style = "yellow" if finding.advice else FAILED_STYLE
    said, *diff = safe(finding.message).splitlines() or [""]
    yield Padding(where.append(said, style), (0, 0, 0, 4))
    if diff:
        yield Padding(_coloured(diff), (0, 0, 0, 6))
    if finding.remedy:
        yield Padding(Text(safe(finding.remedy)), (0, 0, 0, 8))


def _coloured(lines: Sequence[str]) -> Text:
    """What stands below the first line of a message, which is a diff, mostly."""
    styles = {"-": FAILED_STYLE, "+": "green", "@": QUIET}
    return Text("\n").join(Text(line, styles.get(line[:1], "")) for line in lines)


def _close(proof: Proof) -> Iterator[RenderableType]:
    rows = sorted((row for row in proof.headroom if row.close), key=lambda each: -each.reference)
    for row in rows[:MAX_ROWS]:
        shares = f"reference {share(row.reference)}"
        if row.nearest is not None:
            shares += f", nearest mistake ({row.nearest_mutant}) {share(row.nearest)}"
        words = f"{row.check}, {row.what} in {row.dtype}: {row.close} (of it: {shares})"
        yield Field("close", Text(one_line(words)))
    yield from _more(len(rows) - MAX_ROWS)


def _slow(proof: Proof) -> Iterator[RenderableType]:
    rows = sorted(filter(slow, proof.times), key=lambda each: -each.median_ms)
    for row in rows[:MAX_ROWS]:
        longest, median = milliseconds(row.longest_ms), milliseconds(row.median_ms)
        words = f"{row.tier} > {row.check}: {median} on the reference, up to {longest}"
        yield Field("slow", Text(one_line(words)))
    yield from _more(len(rows) - MAX_ROWS)


def _more(count: int) -> Iterator[RenderableType]:
    if count > 0:
        yield Padding(Text(f"{CUT} and {count} more", QUIET), (0, 0, 0, 4))
