"""Proofs as whoever proves would make them, without proving anything: the one fake of `judge dev`.

What they say follows from the checks and mutants of the problem, so that a page has to show it.
"""

from __future__ import annotations

from collections.abc import Sequence

from judge.grader.messages import CheckCard
from judge.judging import Judge
from judge.problem import Problem
from judge.proof.outcomes import (
    Case,
    CaseKind,
    CheckTime,
    Finding,
    Headroom,
    KillMatrix,
    KillRow,
    MadeMutant,
    Proof,
)
from judge.service.author_proving import Course, Prove

SURVIVOR = """\
@@ -2 +2 @@
-    return 2 * x
+    return 2 * abs(x)"""


def fake_prover(judge: Judge) -> Prove:
    """Tells of the first questions, and then of a whole proof."""

    def prove(problem: Problem, course: Course) -> Proof:
        course.require_wanted()
        course.progressed(7, 100)
        return proof_of(problem, judge.checks(problem))

    return prove


def proof_of(problem: Problem, checks: Sequence[CheckCard]) -> Proof:
    """A proof in which the last named mutant is noticed by nothing."""
    *noticed, missed = problem.mutants
    rows = [_row(problem, checks, mutant.id) for mutant in noticed]
    rows.append(_row(problem, [], missed.id))
    return Proof(
        problem=problem.slug,
        title=problem.manifest.title,
        folder=str(problem.folder),
        version=problem.version,
        seeds=4,
        sandboxes=["bwrap"],
        cases=[
            Case(kind=CaseKind.REFERENCE, id="4", title="The reference is accepted on 4 seeds."),
            Case(kind=CaseKind.MUTANT, id=missed.id, title=f"{missed.id} fails in {missed.tier}.",
                 findings=[_finding(problem, f"no check of {missed.tier} notices it")]),
            Case(kind=CaseKind.GENERATED, id="kill-rate", title="Enough changes are noticed.",
                 findings=[_finding(problem, f"no check notices the change:\n{SURVIVOR}",
                                    advice=True)]),
            Case(kind=CaseKind.LINT, id="names", title="Every name is explained.",
                 findings=[_finding(problem, "the statement does not name `x`")]),
        ],
        matrix=KillMatrix(checks=[check.id for check in checks], rows=rows),
        made=[
            *(MadeMutant(id=f"2-arith-{number}", operator="other arithmetic", line=2, diff=SURVIVOR,
                         killed_by="test_values") for number in range(1, 25)),
            MadeMutant(id="2-call-1", operator="a call around it", line=2, diff=SURVIVOR),
            MadeMutant(id="2-order-1", operator="swapped operands", line=2, diff=SURVIVOR,
                       equivalent="a product is the same either way round"),
        ],
        headroom=[_headroom(place, check.id) for place, check in enumerate(checks)],
        times=[
            CheckTime(tier=check.tier, check=check.id, median_ms=3.5 + 90 * place % 400,
                      longest_ms=9.0 + 90 * place % 400)
            for place, check in enumerate(checks)
        ],
        wall_s=12.5,
    )  # fmt: skip


def _row(problem: Problem, checks: Sequence[CheckCard], mutant_id: str) -> KillRow:
    mutant = next(each for each in problem.mutants if each.id == mutant_id)
    of_tier = [check.id for check in checks if check.tier == mutant.tier]
    later = [check.id for check in checks if check.tier > mutant.tier]
    skipped = len(mutant.id) % 3
    return KillRow(
        mutant=mutant.id,
        title=mutant.title,
        tier=mutant.tier,
        pitfall=mutant.pitfall,
        failed=[*of_tier[:1], *of_tier[1 + skipped :: 2], *later[skipped::3]],
    )


def _finding(problem: Problem, message: str, *, advice: bool = False) -> Finding:
    file = str(problem.folder / "mutants.toml")
    remedy = "make a check that does"
    return Finding(file=file, line=1, message=message, remedy=remedy, advice=advice)


def _headroom(place: int, check: str) -> Headroom:
    shares: dict[str, float | str | None] = {"nearest": None}
    if place % 3:
        shares = {"nearest": 1.4 * 30**place, "nearest_mutant": "tripled"}
    return Headroom.model_validate(
        {"check": check, "what": "values", "dtype": "float64", "reference": 0.7 / 25**place,
         "close": "" if place else "the reference is close to the limit", **shares}
    )  # fmt: skip
