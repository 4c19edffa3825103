"""What texts promise in numbers: limits and tolerances are those in force; examples can be run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from judge.inspection import MANIFEST, STATEMENT
from judge.proof.lint.document import Piece
from judge.proof.lint.paper import Paper
from judge.proof.outcomes import Finding
from judge.tolerances import DEFAULT_NUMBERS

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60,
}  # fmt: skip
_BYTES = {
    "bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20, "gib": 2**30,
}  # fmt: skip
_UNIT = rf"(?P<unit>seconds?|s|{'|'.join(_BYTES)})\b"
_QUANTITY = re.compile(
    rf"\b(?:(?P<number>\d+(?:\.\d+)?)\s*|(?P<word>{'|'.join(_WORDS)})[\s-]+){_UNIT}", re.IGNORECASE
)
_LIMIT = re.compile(r"\b(limit|at most|may (take|use|need)|no more than|within)", re.IGNORECASE)
_TOLERANCE = re.compile(r"\b[ra]tol\b")
_SMALL = re.compile(r"10\^\{?(-\d+)\}?|\b(\d+(?:\.\d+)?e-\d+)\b")


def examples(paper: Paper) -> Iterator[Finding]:
    """Examples are Python; there is an editorial."""
    for index, example in enumerate(paper.problem.manifest.examples):
        try:
            compile(example.code, "<example>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            line = paper.manifest_text_line(("examples", index, "code"))
            at = (getattr(error, "lineno", None) or 1) - 1
            yield paper.finding(
                MANIFEST, line + at, f"the example {example.title!r} is no Python: {error}",
                "correct its code: the page runs it after the student's file",
            )  # fmt: skip
    if paper.editorial is None:
        yield paper.finding(
            MANIFEST, 1, "there is no editorial",
            "write editorial.md: how one gets to the solution, a step under each `##` heading",
            advice=True,
        )  # fmt: skip


def limits(paper: Paper) -> Iterator[Finding]:
    """Seconds and bytes that the statement names are limits of the problem."""
    own, tests = paper.problem.limits, paper.problem.manifest.tests
    seconds = {own.wall_s, own.cpu_s} | ({tests.wall_s} if tests else set())
    sizes = {own.memory_bytes, own.output_bytes, own.source_bytes}
    for piece in paper.statement.all("text"):
        for found in _QUANTITY.finditer(piece.text):
            unit = found["unit"].lower()
            number = float(found["number"] or _WORDS[found["word"].lower()])
            known = sizes if unit in _BYTES else seconds
            if number * _BYTES.get(unit, 1) not in known:
                yield paper.finding(
                    STATEMENT, piece.line, f"{found[0]!r} is no limit of {MANIFEST}",
                    f"write what [limits] says there, or nothing: the page shows the limits "
                    f"({_listed(known)})",
                    advice=_LIMIT.search(piece.text) is None,
                )  # fmt: skip


def tolerances(paper: Paper) -> Iterator[Finding]:
    """Numbers beside rtol and atol are those of a dtype, or are in a check."""
    known = DEFAULT_NUMBERS | set(_in_checks(paper))
    for block in paper.statement.all("block"):
        for line, text in enumerate(block.text.splitlines() if _speaks_of_them(block) else ()):
            for found in _SMALL.finditer(text):
                number = 10.0 ** int(found[1]) if found[1] else float(found[2])
                if not any(abs(number - each) <= number / 1000 for each in known):
                    yield paper.finding(
                        STATEMENT, block.line + line, f"no check compares with {number:g}",
                        f"write the tolerance that is in force, one of: {_listed(known)}",
                        advice=True,
                    )  # fmt: skip


def _speaks_of_them(block: Piece) -> bool:
    return _TOLERANCE.search(block.text) is not None or "mathrm{rtol}" in block.text


def _in_checks(paper: Paper) -> Iterator[float]:
    """Numbers that checks give as rtol and atol."""
    for tier in paper.problem.tiers:
        for node in ast.walk(ast.parse(paper.text(tier.checks))):
            if isinstance(node, ast.keyword) and node.arg in ("rtol", "atol"):
                yield from _numbers(node)


def _numbers(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield float(node.value)


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in sorted(numbers) if number)
