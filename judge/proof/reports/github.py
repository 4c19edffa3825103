"""Proofs on GitHub: annotations on an author's lines, and a summary of the step.

Annotations are *workflow commands*, lines of standard output that the runner obeys. Whatever is
printed there might be one, so everything in them is escaped as the runner unescapes it, and around
a report for people the runner is told to obey nothing. The summary is Markdown, and belongs into
the file that `GITHUB_STEP_SUMMARY` names.
"""

import html
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judge.proof.outcomes import Case, Finding, MadeMutant, Proof
from judge.proof.reports.figures import (
    MAX_FINDINGS,
    Counts,
    findings_of,
    kill_rate,
    name,
    named_mutants,
    seconds,
    state,
)
from sandbox.text import one_line, printable

MAX_SURVIVORS = 50  # of one problem; a summary may have a mebibyte
EQUIVALENT_REMEDY = (
    "write a check that notices it, or, if none can, add it to mutants.toml as an [[equivalent]] "
    "entry with the reason"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$@:])")
_LONGEST_FENCE = re.compile("`+")


def annotations(proofs: Sequence[Proof], root: Path) -> Iterator[str]:
    """Workflow commands, errors first, since a runner keeps ten of each kind in a step.

    Files are named relative to the repository's `root` where they are inside it.
    """
    for advice, command in ((False, "error"), (True, "warning")):
        for proof in proofs:
            for case in proof.cases:
                for finding in findings_of(case, advice=advice):
                    yield _command(command, f"{proof.problem}: {name(case)}", finding, root)


@contextmanager
def nothing_obeyed(echo: Callable[[str], None]) -> Iterator[None]:
    """Until the end the runner takes what is printed for text, also where it looks like a command.

    `echo` prints a line to the same stream. Nobody can guess the word that ends it.
    """
    word = secrets.token_hex(16)
    echo(f"::stop-commands::{word}")
    try:
        yield
    finally:
        echo(f"::{word}::")


def summary(proofs: Sequence[Proof], root: Path) -> str:
    """The step's summary: a table, then what does not hold, advice and survivors."""
    return "\n".join([*_table(proofs), *(line for proof in proofs for line in _part(proof, root))])


# --- workflow commands ----------------------------------------------------------------------------


def _command(command: str, title: str, finding: Finding, root: Path) -> str:
    place = _property(_relative(finding.file, root))
    message = _data(f"{finding.message}\n{finding.remedy}".rstrip("\n"))
    return f"::{command} file={place},line={finding.line},title={_property(title)}::{message}"


def _relative(file: str, root: Path) -> str:
    """`file` as GitHub knows it, where it is in the repository at all."""
    path, top = Path(os.path.normpath(root / file)), Path(os.path.normpath(root))
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else file


def _data(text: str) -> str:
    escaped = printable(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")


# --- the summary ----------------------------------------------------------------------------------


def _table(proofs: Sequence[Proof]) -> Iterator[str]:
    yield "## Proof of the exercises\n"
    yield "| problem | | cases | made mutants killed | named mutants | seeds | time |"
    yield "| --- | --- | --- | --- | --- | ---: | ---: |"
    for proof in proofs:
        cells = [
            _markdown(proof.problem), f"{'✅' if proof.proven else '❌'} {state(proof)}",
            str(Counts.of(proof.cases)), kill_rate(proof), named_mutants(proof),
            str(proof.seeds), seconds(proof.wall_s),
        ]  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""


def _part(proof: Proof, root: Path) -> Iterator[str]:
    told = [case for case in proof.cases if case.findings or case.skipped]
    if not told and not proof.survivors:
        return
    yield f"### {_markdown(proof.problem)}\n"
    for case in told:
        yield from _case(case, root)
    yield ""
    if proof.survivors:
        yield from _survivors(proof.survivors)


def _case(case: Case, root: Path) -> Iterator[str]:
    if case.skipped:
        yield f"- ⏭️ {_markdown(name(case))} was not tried: {_markdown(case.skipped)}"
        return
    yield f"- {'❌' if case.failed else '💡'} **{_markdown(name(case))}**"
    for finding in case.findings[:MAX_FINDINGS]:
        place = _code(f"{_relative(finding.file, root)}:{finding.line}")
        # What stands below is for whoever opens the file, or among the survivors.
        said, remedy = (words.partition("\n")[0] for words in (finding.message, finding.remedy))
        yield f"  - {place} {_markdown(said)} <br> {_markdown(remedy)}"
    if len(case.findings) > MAX_FINDINGS:
        yield f"  - ... and {len(case.findings) - MAX_FINDINGS} more"


def _survivors(survivors: Sequence[MadeMutant]) -> Iterator[str]:
    count = f"{len(survivors)} made mutant{'' if len(survivors) == 1 else 's'}"
    yield f"<details><summary>No check notices {count}</summary>\n"
    yield f"For each: {_markdown(EQUIVALENT_REMEDY)}.\n"
    for mutant in survivors[:MAX_SURVIVORS]:
        heading = f"{mutant.id}, line {mutant.line}: {mutant.operator}"
        diff = printable(mutant.diff).rstrip("\n")
        fence = "`" * max(3, 1 + max(map(len, _LONGEST_FENCE.findall(diff)), default=0))
        yield f"{_markdown(heading)}\n\n{fence}diff\n{diff}\n{fence}\n"
    if len(survivors) > MAX_SURVIVORS:
        yield f"... and {len(survivors) - MAX_SURVIVORS} more\n"
    yield "</details>\n"


def _markdown(text: str) -> str:
    """`text` as itself, on one line, whatever Markdown or HTML would make of it."""
    line = " ".join(printable(text).split())
    return _MARKDOWN.sub(r"\\\1", html.escape(line, quote=False))


def _code(text: str) -> str:
    return f"<code>{_markdown(text)}</code>"
