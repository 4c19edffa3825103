"""Lint: what can be said of a folder by reading it.

Theory of operation
-------------------
A `Paper` is the problem with all its texts, each of which knows its file and line. Every topic is
a function from a paper to findings, and becomes a case:

- *contract*: everything in it is explained, and declared as the reference defines it;
- *tiers*: every tier and every check has its words for the student;
- *mathematics*: formulas are formulas to the page, and can be drawn;
- *links*: they lead somewhere, and the sources are named;
- *leaks*: the reference's code is nowhere a student reads it too early;
- *hints*: they are sentences, and leave the last step to the student;
- *examples*, *limits*, *tolerances*: what is promised in code and numbers is so.

A rule that cannot be sure gives advice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from judge.grader.messages import CheckCard
from judge.problem import Problem
from judge.proof.lint.contract import contract
from judge.proof.lint.hints import hints
from judge.proof.lint.leaks import leaks
from judge.proof.lint.links import links
from judge.proof.lint.mathematics import NoParser, mathematics
from judge.proof.lint.paper import Paper
from judge.proof.lint.promises import examples, limits, tolerances
from judge.proof.lint.tiers import tiers
from judge.proof.outcomes import Case, CaseKind, Finding

Topic = Callable[[Paper], Iterable[Finding]]
TOPICS: dict[str, tuple[str, Topic]] = {
    "contract": ("The contract is explained, and is what the reference defines", contract),
    "tiers": ("Every tier and every check has words for the student", tiers),
    "mathematics": ("Every formula can be drawn", mathematics),
    "links": ("Links lead somewhere, and sources are named", links),
    "leaks": ("No text shows code of the reference", leaks),
    "hints": ("Hints are sentences, and do not give the fix", hints),
    "examples": ("Examples can be run, and there is an editorial", examples),
    "limits": ("Limits in the statement are those in force", limits),
    "tolerances": ("Tolerances in the statement are those in force", tolerances),
}


def lint(problem: Problem, checks: Sequence[CheckCard]) -> list[Case]:
    """A case for each topic; without `checks`, nothing is said of theirs. Takes milliseconds."""
    paper = Paper(problem, checks)
    return [_case(paper, name, title, topic) for name, (title, topic) in TOPICS.items()]


def _case(paper: Paper, name: str, title: str, topic: Topic) -> Case:
    start = perf_counter()
    findings, skipped = list[Finding](), ""
    try:
        findings = sorted(topic(paper), key=lambda finding: (finding.file, finding.line))
    except NoParser as missing:
        skipped = str(missing)
    wall_ms = (perf_counter() - start) * 1000
    return Case(
        kind=CaseKind.LINT,
        id=name,
        title=title,
        findings=findings,
        skipped=skipped,
        wall_ms=wall_ms,
    )
