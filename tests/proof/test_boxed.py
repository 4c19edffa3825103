"""What cases make of results, without any box."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.problem import KeptSubmission, load_problem
from judge.proof.boxed import Solution, alternative_case, reference_case, rejected_case
from judge.proof.outcomes import Finding
from judge.proof.places import Places
from judge.results import CheckResult, Environment, Result, TierResult
from judge.verdicts import Verdict, first_failing
from tests.proof.folders import write_advisory

AC, WA, JE, SK = Verdict.AC, Verdict.WA, Verdict.JE, Verdict.SK
CHECKS = {
    "T0": "test_t0_interface::test_call",
    "T1": "test_t1_oracle::test_values",
    "T2": "test_t2_infinity::test_infinity",
}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(load_problem(write_advisory(tmp_path)))


def judged(places: Places, *verdicts: Verdict, seed: int = 0) -> Result:
    """A result with the verdicts of the only checks of T0, T1 and T2, which is advisory."""
    tiers = [
        TierResult(
            id=tier, title="", verdict=verdict, passed=int(verdict is AC), total=1,
            advisory=tier == "T2",
            checks=[CheckResult(id=check, title="", kind="", why="", verdict=verdict,
                                message=f"said by {tier}")],
        )
        for (tier, check), verdict in zip(CHECKS.items(), verdicts, strict=True)
    ]  # fmt: skip
    return Result(
        id="r", problem="double", problem_version="", kind="submit", state="finished",
        verdict=first_failing(verdicts[:2]), score=0.0, tiers=tiers, seed=seed,
        limits=places.problem.limits,
        environment=Environment(sandbox="", image="", torch="", numpy=""),
    )  # fmt: skip


def found_for_reference(places: Places, advised: list[Verdict]) -> list[Finding]:
    results = {seed: judged(places, AC, AC, last, seed=seed) for seed, last in enumerate(advised)}
    return reference_case(places, Solution("reference.py", results)).findings


def test_an_advisory_check_may_fail_once_for_a_right_solution(places: Places) -> None:
    assert found_for_reference(places, [AC, WA, AC, AC]) == []


def test_an_advisory_check_that_fails_again_and_again_is_advice(places: Places) -> None:
    [found] = found_for_reference(places, [WA, AC, WA, AC])
    assert found.advice
    assert (
        "test_t2_infinity::test_infinity does not accept the reference with 2 of 4" in found.message
    )


def test_an_advisory_check_that_is_broken_is_more_than_advice(places: Places) -> None:
    [found] = found_for_reference(places, [AC, AC, JE, AC])
    assert not found.advice


def test_a_check_that_counts_may_not_fail_a_right_solution_once(places: Places) -> None:
    results = {seed: judged(places, AC, WA if seed == 2 else AC, AC) for seed in range(4)}
    [found] = alternative_case(places, Solution("submissions/accepted/sum.py", results)).findings
    assert not found.advice
    assert "does not accept submissions/accepted/sum.py with 1 of 4 seeds (2)" in found.message


def found_for_rejected(places: Places, tier: str, *verdicts: Verdict) -> list[str]:
    kept = KeptSubmission(f"submissions/rejected/{tier}/same.py", b"", tier)
    case = rejected_case(places, kept, judged(places, *verdicts))
    return [finding.message for finding in case.findings]


def test_a_wrong_solution_fails_in_its_tier_whatever_an_advisory_one_says(places: Places) -> None:
    assert found_for_rejected(places, "T1", AC, WA, WA) == []
    assert found_for_rejected(places, "T2", AC, AC, WA) == []
    assert "is accepted" in found_for_rejected(places, "T1", AC, AC, WA)[0]
    assert "fails first in T1" in found_for_rejected(places, "T2", AC, WA, WA)[0]


@pytest.mark.parametrize("verdicts", [(AC, AC, JE), (WA, SK, JE), (AC, JE, AC)])
def test_broken_checks_reject_nothing(places: Places, verdicts: tuple[Verdict, ...]) -> None:
    for tier in CHECKS:
        [message] = found_for_rejected(places, tier, *verdicts)
        assert message.startswith("same shows that the checks are broken: said by T")
