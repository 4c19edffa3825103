"""What holds for every exercise of the bank, whatever it is about."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from judge.checks import CheckInfo, LocalSubmission
from judge.grader.nulls import NULLS, Nulled
from judge.problem import Problem, list_slugs, load_problem
from tests.problems.local_session import LocalSession, failing_tiers, in_session

ROOT = Path(__file__).parents[2] / "problems"
SLUGS = list_slugs(ROOT)
SEED = 20_261_130
LONGEST_SENTENCE = 160


@cache
def problem_of(slug: str) -> Problem:
    return load_problem(ROOT / slug)


@cache
def proof_of(slug: str) -> tuple[list[CheckInfo], dict[str, dict[str, str]]]:
    """The checks of an exercise, and which of them each null answer and the starter fail."""
    problem = problem_of(slug)

    def prove(session: LocalSession) -> tuple[list[CheckInfo], dict[str, dict[str, str]]]:
        files = {problem.main_file: problem.reference}
        right = LocalSubmission.from_sources(files, session.setting)
        failures = {
            name: session.failures_of(Nulled(right, null), SEED) for name, null in NULLS.items()
        }
        failures["starter"] = session.failures(problem.starter(problem.files[0]), SEED)
        failures["reference"] = session.failures(problem.reference, SEED)
        return session.checks, failures

    return in_session(problem.folder, prove)


@pytest.mark.parametrize("slug", SLUGS)
def test_checks_have_words_for_the_student(slug: str) -> None:
    checks, _ = proof_of(slug)
    for check in checks:
        for sentence in (check.title, check.why):
            assert sentence.endswith("."), check.id
            assert "!" not in sentence, check.id
            assert len(sentence) <= LONGEST_SENTENCE, check.id
    assert len({check.title for check in checks}) == len(checks)


@pytest.mark.parametrize("slug", SLUGS)
def test_hints_and_symptoms_are_sentences(slug: str) -> None:
    for mutant in problem_of(slug).mutants:
        assert mutant.symptom.endswith("."), mutant.id
        assert mutant.hint.endswith(".") or not mutant.pitfall, mutant.id


@pytest.mark.parametrize("slug", SLUGS)
def test_the_reference_passes_and_the_starter_fails(slug: str) -> None:
    _, failures = proof_of(slug)
    assert failures["reference"] == {}
    tiers = [tier.id for tier in problem_of(slug).tiers]
    assert failing_tiers(failures["starter"]) == tiers


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("slug", SLUGS)
def test_a_null_answer_fails_every_tier_that_claims_correctness(slug: str, null: str) -> None:
    _, failures = proof_of(slug)
    claiming = {tier.id for tier in problem_of(slug).tiers[1:]}
    assert claiming <= set(failing_tiers(failures[null]))
