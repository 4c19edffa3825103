"""Questions about a folder: which are asked again, and which answers are kept."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from msgspec import structs

from judge.grader.messages import Rehearsal, Rehearsed, RehearsedCheck
from judge.judging import Judge
from judge.problem import Problem, load_problem
from judge.proof.evidence import Evidence, Tally
from judge.results import Diagnosis, Environment, Kind, Result
from judge.verdicts import Verdict
from tests.proof.memory import Memory
from tests.small_problem import write_problem

RIGHT = Rehearsed([RehearsedCheck("T1", "test_values", None, 1.0)])
LATE = Rehearsed([RehearsedCheck("T1", "test_values", "no end", 1.0, late=True)], late=True)
DIED = Rehearsed([], "its process ended", died=True)
HINT = Diagnosis(pitfall="tripled", hint="The factor is three.")
CODE = Rehearsal(b"", patience_s=1.0, budget_s=1.0)


class Answers:
    """A judge that says what it is told to, one after another."""

    environment = Environment(sandbox="bwrap", image="", torch="", numpy="")

    def __init__(self, *answers: Rehearsed | Verdict | Diagnosis) -> None:
        self.left = list(answers)

    def rehearse(self, problem: Problem, rehearsal: Rehearsal, seed: int) -> Rehearsed:
        del problem, rehearsal, seed
        answer = self.left.pop(0)
        assert isinstance(answer, Rehearsed)
        return answer

    def attempt(
        self, problem: Problem, files: dict[str, bytes], *, seed: int, kind: Kind
    ) -> Result:
        del files
        answer = self.left.pop(0)
        assert not isinstance(answer, Rehearsed)
        hints = [answer] if isinstance(answer, Diagnosis) else []
        return Result(
            id="r", problem=problem.slug, problem_version="", kind=kind, state="finished",
            verdict=Verdict.WA if isinstance(answer, Diagnosis) else answer, score=0.0, tiers=[],
            diagnosis=hints, seed=seed, limits=problem.limits, environment=self.environment,
        )  # fmt: skip


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


class Asking:
    """Evidence of the small problem, from a judge that says so."""

    def __init__(
        self, root: Path, threads: ThreadPoolExecutor, *answers: Rehearsed | Verdict | Diagnosis
    ) -> None:
        self.judge, self.told = Answers(*answers), list[tuple[int, int]]()
        tally = Tally(lambda answered, asked: self.told.append((answered, asked)))
        problem = load_problem(write_problem(root))
        self.evidence = Evidence(problem, cast("Judge", self.judge), threads, Memory(), tally)

    def rehearsed(self, seed: int = 1, noise: int = 0) -> Rehearsed:
        return self.evidence.rehearsed(structs.replace(CODE, noise=noise), seed).result()

    def judged(self, seed: int = 1, kind: Kind = "submit") -> Verdict:
        return self.evidence.judged({"solution.py": b""}, seed, kind).result().outcome

    def hints(self) -> list[Diagnosis]:
        return self.evidence.judged({"solution.py": b""}, 1, hinted=True).result().diagnosis


def test_code_that_is_late_once_is_tried_again(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    asking = Asking(tmp_path, threads, LATE, RIGHT)
    assert asking.rehearsed() == RIGHT
    assert asking.rehearsed() == RIGHT  # this is kept
    assert asking.judge.left == []


@pytest.mark.parametrize("unsure", [[LATE, LATE], [DIED]], ids=["late", "died"])
def test_what_may_come_out_otherwise_is_not_kept(
    tmp_path: Path, threads: ThreadPoolExecutor, unsure: list[Rehearsed]
) -> None:
    asking = Asking(tmp_path, threads, *unsure, RIGHT)
    assert asking.rehearsed() == unsure[-1]
    assert asking.rehearsed() == RIGHT


def test_another_seed_and_other_noise_are_other_questions(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    asking = Asking(tmp_path, threads, RIGHT, DIED, DIED)
    assert [asking.rehearsed(), asking.rehearsed(seed=2), asking.rehearsed(noise=1)] == [
        RIGHT, DIED, DIED,
    ]  # fmt: skip


def test_a_verdict_is_kept_by_seed_and_kind(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    asking = Asking(tmp_path, threads, Verdict.WA, Verdict.AC, Verdict.RE)
    assert [asking.judged(), asking.judged(), asking.judged(2), asking.judged(kind="tests")] == [
        Verdict.WA, Verdict.WA, Verdict.AC, Verdict.RE,
    ]  # fmt: skip


@pytest.mark.parametrize("passing", [Verdict.TLE, Verdict.JE])
def test_a_verdict_that_may_pass_is_not_kept(
    tmp_path: Path, threads: ThreadPoolExecutor, passing: Verdict
) -> None:
    asking = Asking(tmp_path, threads, passing, Verdict.AC)
    assert [asking.judged(), asking.judged()] == [passing, Verdict.AC]


def test_a_mistake_that_is_not_recognised_is_tried_again(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    asking = Asking(tmp_path, threads, Verdict.WA, HINT)
    assert asking.hints() == [HINT]
    assert asking.hints() == [HINT]  # this is kept


def test_a_mistake_that_is_never_recognised_is_not_kept(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    asking = Asking(tmp_path, threads, Verdict.WA, Verdict.WA, HINT)
    assert [asking.hints(), asking.hints()] == [[], [HINT]]


def test_every_question_is_counted_when_it_is_asked_and_when_it_is_answered(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    asking = Asking(tmp_path, threads, RIGHT, RIGHT)
    asking.rehearsed(seed=1)
    asking.rehearsed(seed=2)
    threads.shutdown(wait=True)
    assert sorted(asking.told) == [(0, 1), (1, 1), (1, 2), (2, 2)]
