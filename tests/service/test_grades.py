"""Grades of students' own tests that are kept, on a real database with a judge that counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from judge.events import CheckFinished, MutantFinished
from judge.judging import Judge, OnEvent
from judge.problem import Problem, load_problem
from judge.results import ChartSource, Environment, Kind, Result
from judge.service.folding import replay
from judge.service.grades import grade_key
from judge.service.records import Claim, StoredJudging
from judge.verdicts import Verdict
from tests.service.chapters import TESTS, graded
from tests.service.made import ENVIRONMENT, ROOMY, accepted, claimed, double, finish, new
from tests.service.test_worker import WARM, Bench, run

FILES = {name: text.encode() for name, text in TESTS.items()}
CLAIM = Claim(
    judging=1, submission="", number=1, lease=1, worker="w", kind="tests", problem="", version="",
    seed=0, files=FILES, accepted_ms=0, queued_ms=0,
)  # fmt: skip


class CountingJudge(Judge):
    """Has no boxes: gives all tests the same grade, and counts how often it was asked."""

    def __init__(self, *verdicts: Verdict, image: str = "sha256:1") -> None:
        self.verdicts = list(verdicts)
        self.made = 0
        self.image = image

    @property
    def environment(self) -> Environment:
        return ENVIRONMENT.model_copy(update={"image": self.image})

    def boxes(self) -> dict[str, int]:
        return WARM

    def attempt(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        *,
        id: str | None = None,  # noqa: A002  # the name it has in a result
        seed: int | None = None,
        kind: Kind = "submit",
        on_event: OnEvent | None = None,
        charts_of: ChartSource = "submission",
    ) -> Result:
        del files, charts_of
        verdict = self.verdicts[min(self.made, len(self.verdicts) - 1)]
        self.made += 1
        claim = replace(CLAIM, submission=id or "-", problem=problem.slug, version=problem.version)
        made = graded(replace(claim, kind=kind, seed=seed or 0), verdict)
        result = made.model_copy(update={"environment": self.environment})
        for event in replay(result):
            if on_event is not None:
                on_event(event)
        return result


async def judge_tests(
    bench: Bench, student: str = "ann", files: Mapping[str, bytes] = FILES, version: str = ""
) -> StoredJudging:
    """Hand tests in; how they were judged."""
    submission = replace(new(bench.problem, student, kind="tests"), files=files)
    if version:
        submission = replace(submission, version=version)
    await bench.store.accept(submission, ROOMY)
    return await bench.verdict(submission.id)


def test_the_same_tests_are_given_the_same_grade_without_being_run(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = CountingJudge(Verdict.WA)
        bench.start(judge)
        first, second = await judge_tests(bench), await judge_tests(bench, "bob")
        assert judge.made == 1
        assert first.result is not None
        assert second.result is not None
        assert "cached" not in first.result.timing.spans
        assert set(second.result.timing.spans) == {"accepted", "claimed", "cached", "stored"}
        assert second.result.id != first.result.id
        mine = {"id": "", "timing": first.result.timing}
        assert second.result.model_copy(update=mine) == first.result.model_copy(update=mine)
        assert (second.verdict, second.failed_tier) == (Verdict.WA, "tests")

    run(database_url, tmp_path, test)


def test_the_stream_of_a_kept_grade_is_complete(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        bench.start(CountingJudge(Verdict.AC))
        streams = []
        for _ in range(2):
            judging = await judge_tests(bench)
            found = await bench.store.events_after(judging.id, 0)
            streams.append([each.event for each in found])
        first, second = streams
        assert [event.type for event in second] == [event.type for event in first]
        told = (CheckFinished, MutantFinished)
        assert [each for each in second if isinstance(each, told)] == [
            each for each in first if isinstance(each, told)
        ]

    run(database_url, tmp_path, test)


def test_whatever_else_is_different_is_graded_anew(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        judge = CountingJudge(Verdict.AC)
        bench.start(judge)
        await judge_tests(bench)
        (name, text), *_ = FILES.items()
        await judge_tests(bench, files={name: text + b"\n"})
        await judge_tests(bench, files={"tests/test_other.py": text})
        await judge_tests(bench, files=FILES | {"tests/test_other.py": b""})
        assert judge.made == 4
        folder = tmp_path / "other"
        double(folder)
        (folder / "double" / "statement.md").write_text("# Another\n")
        problem = load_problem(folder / "double")
        await bench.store.publish([problem])
        await judge_tests(bench, version=problem.version)
        assert judge.made == 5
        judge.image = "sha256:2"
        await judge_tests(bench)
        assert judge.made == 6

    run(database_url, tmp_path, test)


def test_what_the_tests_may_not_be_to_blame_for_is_not_kept(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = CountingJudge(Verdict.JE, Verdict.TLE, Verdict.RE, Verdict.RV)
        bench.start(judge)
        verdicts = [(await judge_tests(bench)).verdict for _ in range(6)]
        assert verdicts == [Verdict.JE, Verdict.TLE, Verdict.RE, Verdict.RV, Verdict.RV, Verdict.RV]
        assert judge.made == 4

    run(database_url, tmp_path, test)


def test_judged_again_means_graded_again_and_the_newest_grade_is_kept(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bench: Bench) -> None:
        judge = CountingJudge(Verdict.AC, Verdict.WA)
        bench.start(judge)
        submission = replace(new(bench.problem, kind="tests"), files=FILES)
        await bench.store.accept(submission, ROOMY)
        await bench.verdict(submission.id)
        await bench.store.rejudge(submission.id, bench.problem.version, ROOMY)
        assert (await bench.verdict(submission.id)).verdict is Verdict.WA
        assert (await judge_tests(bench, "bob")).verdict is Verdict.WA
        assert judge.made == 2

    run(database_url, tmp_path, test)


def test_a_solution_is_never_given_a_kept_grade(database_url: str, tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        store, problem = bench.store, bench.problem
        for _ in range(2):
            claim = await claimed(store, await accepted(store, new(problem)))
            await finish(store, claim, problem)
            assert await store.graded(claim, ENVIRONMENT) is None

    run(database_url, tmp_path, test)


def test_nothing_is_kept_while_it_is_unknown_where_it_runs() -> None:
    assert grade_key(FILES, "v", Environment(sandbox="bwrap", image="", torch="", numpy="")) is None
    known = Environment(sandbox="bwrap", image="", torch="2", numpy="2")
    assert grade_key(FILES, "v", known) != grade_key(FILES, "w", known)
