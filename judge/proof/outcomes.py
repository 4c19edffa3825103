"""What a proof comes to: the records that reports print and commands write as JSON.

A `Proof` is of one problem. It is made of `Case`s, each one claim about the folder; a case that
does not hold has a `Finding` with file, line and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from statistics import fmean
from typing import Annotated

from pydantic import Field, WithJsonSchema

from judge.results import Chart, Environment, Record

KILL_RATE = 0.95  # of the made mutants that count: what has to be noticed
LIMIT_FACTOR = 5.0  # of what the reference needs: what a tier's limit is at least

# JSON has no word for what is without bound: it comes as null.
Share = Annotated[float, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]})]


class CaseKind(StrEnum):
    """What a case claims of the folder."""

    FOLDER = "folder"  # its files are valid, and the checks can be collected
    REFERENCE = "reference"  # the reference is accepted, seed after seed
    ALTERNATIVE = "alternative"  # so is another right way
    STARTER = "starter"  # what the editor opens with is rejected, by every tier
    NULL = "null"  # an answer that takes no work is rejected by every tier that claims correctness
    MUTANT = "mutant"  # a named mistake fails in its tier, and a pitfall gets its own hint
    REJECTED = "rejected"  # a kept wrong solution fails in its tier
    SUITE = "suite"  # kept tests are graded as their folder says
    GENERATED = "generated"  # the checks kill enough of the mutants that a machine makes
    HEADROOM = "headroom"  # the reference stays away from every limit of a comparison
    STABILITY = "stability"  # order, repetition, threads and the other sandbox change nothing
    TIME = "time"  # the reference needs a small part of the limits
    LINT = "lint"  # texts, contract and sources


class Finding(Record):
    """What keeps a case from holding, or, as `advice`, what is only worth knowing.

    `file` is a path that exists; lines count from 1.
    """

    file: str
    line: int
    message: str
    remedy: str
    advice: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}\n    {self.remedy}"


class Case(Record):
    """One claim. `id` is unique among those of its kind in the problem."""

    kind: CaseKind
    id: str
    title: str
    findings: list[Finding] = []
    skipped: str = Field(default="", description="why it could not be tried here")
    wall_ms: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether it was tried and nothing but advice came of it."""
        return not self.skipped and all(finding.advice for finding in self.findings)

    @property
    def failed(self) -> bool:
        """Whether it was tried and does not hold."""
        return not self.skipped and not self.holds


class KillRow(Record):
    """Which checks a named mutant fails; `tier` is the one that must reject it."""

    mutant: str
    title: str
    tier: str
    pitfall: bool
    failed: list[str]


class KillMatrix(Record):
    """Checks in the order they run, and which of them each named mutant fails."""

    checks: list[str] = []
    rows: list[KillRow] = []


class MadeMutant(Record):
    """A mutant that a machine made of the reference, and what became of it.

    `killed_by` is a check, or what else ended it, in words; empty for a survivor. `equivalent` is
    the author's reason why no check can tell it from the reference.
    """

    id: str
    operator: str
    line: int
    diff: str
    killed_by: str = ""
    equivalent: str = ""

    @property
    def survived(self) -> bool:
        """Whether it should have been noticed, and was not."""
        return not self.killed_by and not self.equivalent


class Headroom(Record):
    """How near the reference and the nearest wrong answer come to a comparison's limit.

    Both are shares of the limit: the largest of the reference over all seeds, and the smallest
    above 1 of a mutant, if any mutant fails by this comparison. `close` is what deserves a look.
    """

    check: str
    what: str
    dtype: str
    reference: Share
    nearest: float | None = None
    nearest_mutant: str = ""
    close: str = Field(default="", description="what is too near the limit, in words, if anything")


class CheckTime(Record):
    """What a check takes on the reference, judged in a sandbox."""

    tier: str
    check: str
    median_ms: float
    longest_ms: float


class Proof(Record):
    """All that was found out about one problem."""

    problem: str
    title: str
    folder: str
    version: str
    seeds: int
    sandboxes: list[str] = []
    cases: list[Case]
    matrix: KillMatrix = KillMatrix()
    made: list[MadeMutant] = []
    kill_rate_needed: float = KILL_RATE
    headroom: list[Headroom] = []
    times: list[CheckTime] = []
    limit_factor: float = LIMIT_FACTOR
    charts: list[Chart] = []
    environment: Environment | None = None
    wall_s: float = 0.0

    @property
    def proven(self) -> bool:
        """Whether no case fails."""
        return not any(case.failed for case in self.cases)

    @property
    def findings(self) -> Iterator[Finding]:
        """Of all cases, in order."""
        for case in self.cases:
            yield from case.findings

    @property
    def survivors(self) -> list[MadeMutant]:
        """The made mutants that no check noticed."""
        return [mutant for mutant in self.made if mutant.survived]

    @property
    def kill_rate(self) -> float | None:
        """Share of the made mutants, but for equivalent ones, that are killed; None for none."""
        counted = [mutant for mutant in self.made if not mutant.equivalent]
        return fmean(bool(mutant.killed_by) for mutant in counted) if counted else None
