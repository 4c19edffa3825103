"""What cases make of rehearsals, without any box."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.grader.messages import ComparedMargin, Rehearsed, RehearsedCheck, Stand
from judge.manifest import Mutant
from judge.problem import Problem, load_problem
from judge.proof import rehearsed
from judge.proof.generated import generate
from judge.proof.places import Places
from judge.results import CheckResult
from judge.verdicts import Verdict
from tests.proof.folders import write_advisory
from tests.small_problem import write_problem

CALL, VALUES = "test_t0_interface::test_call", "test_t1_oracle::test_values"
KINDS = {CALL: "interface", VALUES: "oracle"}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(load_problem(write_problem(tmp_path)))


def mutant_of(problem: Problem, name: str) -> Mutant:
    return next(mutant for mutant in problem.mutants if mutant.id == name)


def check(
    name: str, error: str | None = None, *, late: bool = False, margin: ComparedMargin | None = None
) -> RehearsedCheck:
    tier = "T0" if name == CALL else "T1"
    return RehearsedCheck(tier, name, error, 1.0, late, [] if margin is None else [margin])


def ran(values: str | None = None, call: str | None = None, *, late: bool = False) -> Rehearsed:
    """Both checks, and what they said."""
    return Rehearsed([check(CALL, call), check(VALUES, values, late=late)], late=late)


def in_box(values: Verdict) -> list[CheckResult]:
    return [
        CheckResult(id=name, title="", kind="", why="", verdict=verdict)
        for name, verdict in ((CALL, Verdict.AC), (VALUES, values))
    ]


REFUSED = Rehearsed([], "ImportError: no module", died=True)


# --- null answers -----------------------------------------------------------------------------


def test_a_null_answer_that_could_not_be_tried_is_not_rejected(places: Places) -> None:
    case = rehearsed.null_case(places, KINDS, Stand.ZEROS, REFUSED)
    assert case.failed
    assert "no module" in case.findings[0].message


@pytest.mark.parametrize(("dtype", "is_loose"), [("float32", True), ("bfloat16", False)])
def test_a_limit_is_loose_only_where_the_dtype_is_more_exact(
    places: Places, dtype: str, is_loose: bool
) -> None:
    lenient = check(VALUES, margin=ComparedMargin("output", dtype, 0.02))
    strict = RehearsedCheck("T1", "test_t1_oracle::test_more", "off", 1.0)
    case = rehearsed.null_case(
        places, KINDS, Stand.SLIGHTLY_OFF, Rehearsed([check(CALL), lenient, strict])
    )
    assert case.failed is is_loose


# --- named mutants ----------------------------------------------------------------------------


def test_a_mistake_that_another_seed_lets_pass_is_found(places: Places) -> None:
    tripled = mutant_of(places.problem, "tripled")
    [found] = rehearsed.disagreements(places, tripled, in_box(Verdict.WA), [ran("off"), ran()])
    assert "nowhere with another" in found.message


def test_a_mistake_of_an_advisory_tier_need_not_fail_where_that_is_not_rehearsed(
    tmp_path: Path,
) -> None:
    problem = load_problem(write_advisory(tmp_path))
    added, places = mutant_of(problem, "nothing-added"), Places(problem)
    assert not list(rehearsed.disagreements(places, added, in_box(Verdict.AC), [ran(), ran()]))


def test_a_mistake_of_an_advisory_tier_passes_the_others_with_any_seed(tmp_path: Path) -> None:
    problem = load_problem(write_advisory(tmp_path))
    added, places = mutant_of(problem, "nothing-added"), Places(problem)
    both = [ran(), ran("off")]
    [found] = rehearsed.disagreements(places, added, in_box(Verdict.AC), both)
    assert "first in T1 with another" in found.message


def test_what_comes_out_otherwise_in_a_box_is_named(places: Places) -> None:
    tripled = mutant_of(places.problem, "tripled")
    both = [ran(call="raised", values="off"), ran("off")]
    [found] = rehearsed.disagreements(places, tripled, in_box(Verdict.WA), both)
    assert found.message.startswith(f"tripled: {CALL} came out otherwise")


def test_a_check_without_an_answer_in_time_disagrees_with_nothing(places: Places) -> None:
    tripled = mutant_of(places.problem, "tripled")
    late = ran("the check itself did not end within 2 s", late=True)
    assert not list(
        rehearsed.disagreements(places, tripled, in_box(Verdict.AC), [late, ran("off")])
    )


# --- made mutants -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came_to", "killed_by"),
    [
        (ran("off"), VALUES),
        (ran(), ""),
        (ran("did not end", late=True), "no answer in time"),
        (REFUSED, "ImportError: no module"),
    ],
)
def test_what_killed_a_made_mutant_is_said(
    places: Places, came_to: Rehearsed, killed_by: str
) -> None:
    [made] = rehearsed.made_mutants(places, generate(places.problem)[:1], [came_to])
    assert (made.killed_by, made.survived) == (killed_by, not killed_by)


# --- stability --------------------------------------------------------------------------------


def test_a_reference_that_fails_beside_the_checks_is_found_once(places: Places) -> None:
    case = rehearsed.beside_case(places, [ran(), ran("first"), ran("second")])
    [found] = case.findings
    assert (Path(found.file).name, found.line) == ("test_t1_oracle.py", 5)
    assert "does not accept the reference: first" in found.message
    assert rehearsed.beside_case(places, [ran(), ran()]).holds


def test_a_reference_that_cannot_run_beside_the_checks_is_found(places: Places) -> None:
    [found] = rehearsed.beside_case(places, [ran(), REFUSED]).findings
    assert Path(found.file).name == "reference.py"
    assert "no module" in found.message


@pytest.mark.parametrize(
    "other",
    [
        REFUSED,
        ran("off"),
        Rehearsed([check(CALL), check(VALUES, margin=ComparedMargin("output", "float64", 0.1))]),
    ],
    ids=["is-missing", "fails", "has-other-numbers"],
)
def test_a_run_that_is_not_the_same_is_unstable(places: Places, other: Rehearsed) -> None:
    assert rehearsed.stability_case(places, "twice", ran(), [ran(), other]).failed
    assert rehearsed.stability_case(places, "twice", ran(), [ran(), ran()]).holds
