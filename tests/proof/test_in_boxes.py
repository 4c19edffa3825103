"""Every problem of the bank, proven in real boxes, and local and remote runs compared.

The reference is accepted on forty seeds, the alternatives on some; each named mistake and each
kept wrong solution fails first in the tier it names; a pitfall is recognised by its own hint. What
the checks say about a mutant is the same whether it runs in a box or beside the checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from judge.judging import Judge
from judge.manifest import Mutant
from judge.problem import KeptSubmission, Problem, list_slugs, load_problem
from judge.results import Result
from judge.verdicts import Verdict
from tests.problems.local_session import in_session

ROOT = Path(__file__).parents[2] / "problems"
PROBLEMS = {slug: load_problem(ROOT / slug) for slug in list_slugs(ROOT)}
SEEDS = range(40)
FEW_SEEDS = (0, 1, 2**47, 2**63 - 1)
SEED = 20_261_129

RIGHT = [
    pytest.param(problem, source, seeds, id=f"{slug}-{name}")
    for slug, problem in PROBLEMS.items()
    for name, source, seeds in [
        ("reference", problem.reference, SEEDS),
        *((Path(kept.name).stem, kept.source, FEW_SEEDS) for kept in problem.accepted),
    ]
]
MUTANTS = [
    pytest.param(problem, mutant, id=f"{slug}-{mutant.id}")
    for slug, problem in PROBLEMS.items()
    for mutant in problem.mutants
]
REJECTED = [
    pytest.param(problem, kept, id=f"{slug}-{Path(kept.name).stem}")
    for slug, problem in PROBLEMS.items()
    for kept in problem.rejected
]


@cache
def judged_mutant(judge: Judge, slug: str, mutant_id: str) -> Result:
    """One verdict a mutant and sandbox serves all tests of it."""
    problem = PROBLEMS[slug]
    mutant = next(mutant for mutant in problem.mutants if mutant.id == mutant_id)
    return judged(judge, problem, problem.mutate(mutant), SEED)


def judged(judge: Judge, problem: Problem, source: bytes, seed: int) -> Result:
    return judge.judge(problem, {problem.main_file: source}, seed=seed)


def first_failing_tier(result: Result) -> str | None:
    failing = (tier.id for tier in result.tiers if tier.verdict not in (Verdict.AC, Verdict.SK))
    return next(failing, None)


def failing_checks(result: Result) -> set[str]:
    checks = (check for tier in result.tiers for check in tier.checks)
    return {check.id for check in checks if check.verdict not in (Verdict.AC, Verdict.SK)}


def skipped_checks(result: Result) -> set[str]:
    checks = (check for tier in result.tiers for check in tier.checks)
    return {check.id for check in checks if check.verdict is Verdict.SK}


@pytest.mark.parametrize(("problem", "source", "seeds"), RIGHT)
def test_right_solutions_are_accepted_on_every_seed(
    warm_judge: Judge, problem: Problem, source: bytes, seeds: Sequence[int]
) -> None:
    rejected = {
        seed: sorted(failing_checks(result))
        for seed in seeds
        if (result := judged(warm_judge, problem, source, seed)).verdict is not Verdict.AC
    }
    assert rejected == {}


@pytest.mark.parametrize(("problem", "mutant"), MUTANTS)
def test_a_named_mistake_fails_in_its_tier_and_gets_its_hint(
    warm_judge: Judge, problem: Problem, mutant: Mutant
) -> None:
    result = judged_mutant(warm_judge, problem.slug, mutant.id)
    assert first_failing_tier(result) == mutant.tier
    assert result.verdict not in (Verdict.AC, Verdict.JE)
    hints = [(found.pitfall, found.hint) for found in result.diagnosis]
    assert hints == ([(mutant.id, mutant.hint)] if mutant.pitfall else [])


# In one sandbox: what differs between the two has been seen by then, on all the mutants.
@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.parametrize(("problem", "kept"), REJECTED)
def test_a_kept_wrong_solution_fails_in_its_tier(
    warm_judge: Judge, problem: Problem, kept: KeptSubmission
) -> None:
    result = judged(warm_judge, problem, kept.source, SEED)
    assert first_failing_tier(result) == kept.tier
    assert result.verdict not in (Verdict.AC, Verdict.JE)


@pytest.mark.parametrize(("problem", "mutant"), MUTANTS)
def test_checks_say_the_same_of_a_mutant_in_a_box_and_beside_them(
    warm_judge: Judge, problem: Problem, mutant: Mutant
) -> None:
    result = judged_mutant(warm_judge, problem.slug, mutant.id)
    local = locally_failing_checks(problem.slug)[mutant.id]
    assert failing_checks(result) == local - skipped_checks(result)


@cache
def locally_failing_checks(slug: str) -> dict[str, set[str]]:
    """Checks that each mutant fails when it runs in the process of the checks."""
    problem = PROBLEMS[slug]
    return in_session(
        problem.folder,
        lambda session: {
            mutant.id: set(session.failures(problem.mutate(mutant), SEED))
            for mutant in problem.mutants
        },
    )
