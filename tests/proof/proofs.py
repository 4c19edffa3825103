"""Proofs as a prover would write them, made by hand: one that holds, and one that does not."""

from __future__ import annotations

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
from judge.results import Chart, Environment

DIFF = "--- reference.py\n+++ reference.py\n@@ -2 +2 @@\n-    return 2 * x\n+    return 3 * x\n"
# What a program may have printed, or an author have meant: it is a text in every report.
HOSTILE = (
    "<script>alert(1)</script>\x1b[31mred\x00\x07 100%0A\n::error file=x::forged\r\n"
    "]]> & \"quoted\" 'too' `code` | cell \ufffe\ud800"
)
CHART = Chart(
    id="weights", tier="T2", title="Weights", source="reference",
    spec={
        "mark": "bar",
        "encoding": {
            "x": {"field": "key", "type": "nominal"},
            "y": {"field": "weight", "type": "quantitative"},
        },
    },
    table=[{"key": "a", "weight": 0.25}, {"key": "b", "weight": 0.75}],
)  # fmt: skip


def finding(message: str = "the limit is loose", *, advice: bool = False) -> Finding:
    return Finding(
        file="problems/double/checks/test_t1_oracle.py", line=8, message=message,
        remedy="lower rtol to 1e-9", advice=advice,
    )  # fmt: skip


def case(kind: CaseKind, case_id: str, title: str, *findings: Finding, skipped: str = "") -> Case:
    return Case(
        kind=kind, id=case_id, title=title, findings=list(findings), skipped=skipped, wall_ms=12.5
    )


def made(count: int, *, survivors: int = 0, equivalent: int = 0) -> list[MadeMutant]:
    mutants = [
        MadeMutant(id=f"2-number-{at}", operator="another number", line=2, diff=DIFF)
        for at in range(count)
    ]
    for at in range(survivors, count):
        known = at < survivors + equivalent
        update = {"equivalent": "2 is as good"} if known else {"killed_by": "test_values"}
        mutants[at] = mutants[at].model_copy(update=update)
    return mutants


def proven() -> Proof:
    return Proof(
        problem="double", title="Doubling", folder="problems/double", version="ab" * 32, seeds=40,
        sandboxes=["bwrap"],
        cases=[
            case(CaseKind.REFERENCE, "accepted", "The reference is accepted."),
            case(CaseKind.MUTANT, "tripled", "Tripled"),
            case(CaseKind.MUTANT, "halved", "Halved"),
            case(CaseKind.STABILITY, "other-sandbox", "In the other.", skipped="needs docker"),
        ],
        matrix=KillMatrix(
            checks=["test_call", "test_values", "test_edges"],
            rows=[
                KillRow(
                    mutant="tripled", title="Tripled", tier="T1", pitfall=True,
                    failed=["test_values", "test_edges"],
                ),
                KillRow(
                    mutant="halved", title="Halved", tier="T2", pitfall=False,
                    failed=["test_edges"],
                ),
            ],
        ),
        made=made(110, survivors=3, equivalent=3),
        headroom=[
            Headroom(check="test_values", what="output", dtype="float64", reference=1e-4,
                     nearest=1e6, nearest_mutant="tripled"),
            Headroom(check="test_edges", what="weights", dtype="float32", reference=0.4,
                     nearest=1.5, nearest_mutant="2-number-7",
                     close="the reference is close to the limit"),
            Headroom(check="test_edges", what="sums", dtype="float32", reference=0.0),
        ],
        times=[
            CheckTime(tier="T0", check="test_call", median_ms=0.4, longest_ms=0.9),
            CheckTime(tier="T1", check="test_values", median_ms=12.0, longest_ms=310.0),
            CheckTime(tier="T2", check="test_edges", median_ms=400.0, longest_ms=1200.0),
        ],
        charts=[CHART],
        environment=Environment(sandbox="bwrap", image="", torch="2.13.0", numpy="2.4.1"),
        wall_s=12.25,
    )  # fmt: skip


def failing() -> Proof:
    """Every text of it is hostile, but for the names that the judge itself has checked."""
    hostile = Finding(
        file="problems/dou,ble:1/mutants.toml", line=4, message=HOSTILE, remedy=HOSTILE
    )
    return proven().model_copy(
        update={
            "problem": "hostile",
            "title": HOSTILE,
            "cases": [
                case(CaseKind.REFERENCE, HOSTILE, HOSTILE, hostile),
                case(CaseKind.LINT, "statement", "Texts", finding(HOSTILE, advice=True)),
                case(CaseKind.STABILITY, "boxes", HOSTILE, skipped=HOSTILE),
                case(CaseKind.NULL, "zeros", "Zeros"),
            ],
            "matrix": KillMatrix(
                checks=[HOSTILE],
                rows=[KillRow(mutant=HOSTILE, title=HOSTILE, tier=HOSTILE, pitfall=True,
                              failed=[HOSTILE])],
            ),
            "made": [
                MadeMutant(id=HOSTILE, operator=HOSTILE, line=1, diff=f"-{HOSTILE}\n+```\n````"),
                MadeMutant(id="k", operator=HOSTILE, line=1, diff=HOSTILE, killed_by=HOSTILE),
                MadeMutant(id="e", operator=HOSTILE, line=1, diff=HOSTILE, equivalent=HOSTILE),
            ],
            "headroom": [
                Headroom(check=HOSTILE, what=HOSTILE, dtype=HOSTILE, reference=float("inf"),
                         nearest=float("nan"), nearest_mutant=HOSTILE, close=HOSTILE),
            ],
            "times": [CheckTime(tier=HOSTILE, check=HOSTILE, median_ms=0.0, longest_ms=0.0)],
            "charts": [
                CHART.model_copy(update={"title": HOSTILE, "table": [{HOSTILE: HOSTILE}]})
            ],
            "sandboxes": [HOSTILE],
        }
    )  # fmt: skip
