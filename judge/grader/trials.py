"""One run of a student's tests: on which implementation, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from judge.grader.messages import GradedMutant, OwnTestsPack, ProblemPack
from judge.grader.runner import RunnerFault
from sandbox.protocol import Failure, OwnTest, RefusedTests

REFERENCE_RUNS = 3
Role = Literal["reference", "alternative", "mutant"]


@dataclass(frozen=True)
class Variant:
    """One implementation that tests run on."""

    role: Role
    source: bytes
    mutant: GradedMutant | None = None

    @property
    def is_right(self) -> bool:
        """Whether no test may fail on it."""
        return self.role != "mutant"

    @property
    def words(self) -> str:
        """What it is, for the exercise's author."""
        if self.mutant is not None:
            return f"the mutant {self.mutant.title!r}"
        return "the reference" if self.role == "reference" else "an accepted solution"


def variants_of(pack: ProblemPack, own: OwnTestsPack) -> list[Variant]:
    """Everything that tests run on, the reference as often as they do."""
    return [
        *(Variant("reference", pack.reference) for _ in range(REFERENCE_RUNS)),
        *(Variant("alternative", source) for source in own.alternatives),
        *(Variant("mutant", mutant.source, mutant) for mutant in own.mutants),
    ]


@dataclass
class Trial:
    """All tests, once, on one implementation.

    `tests` are None until they are collected. `failures` are by test, those of the tests that
    ended; `running` is the one that had not when `fault` ended the child.
    """

    variant: Variant
    order: int
    seed: int
    tests: list[OwnTest] | None = None
    wall_ms: dict[str, float] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    running: str | None = None
    refusal: RefusedTests | None = None
    fault: RunnerFault | None = None

    @property
    def tests_ran(self) -> bool:
        """Whether there were tests, and all of them came to an end."""
        return bool(self.tests) and self.fault is None

    @property
    def passed(self) -> bool:
        """Whether all of them passed."""
        return self.tests_ran and not self.failures

    def failing(self, names: Iterable[str]) -> list[str]:
        """Which of the tests `names` failed, in their order.

        What ends a child before its tests are known fails all of them; a file that cannot be
        imported, those in it.
        """
        if self.refusal is not None:
            stem = self.refusal.file.rpartition("/")[2].removesuffix(".py")
            return [name for name in names if name.partition("::")[0] == stem]
        if self.fault is not None and self.tests is None:
            return list(names)
        return [name for name in names if name in self.failures or name == self.running]
