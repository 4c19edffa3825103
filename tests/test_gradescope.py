from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.gradescope import (
    POINTS,
    gradescope_results,
    unreadable_results,
    write_gradescope,
)
from judge.results import (
    CheckResult,
    Detail,
    Diagnosis,
    Environment,
    Limits,
    Output,
    Result,
    TierResult,
    Timing,
)
from judge.verdicts import Verdict
from tests.commands import status_of
from tests.small_problem import FILES, write_problem

# What the format documents, by key; `number` and `tags` of a test among them.
TOP: dict[str, type | tuple[type, ...]] = {
    "score": (int, float),
    "execution_time": (int, float),
    "output": str,
    "output_format": str,
    "test_output_format": str,
    "test_name_format": str,
    "visibility": str,
    "stdout_visibility": str,
    "extra_data": dict,
    "tests": list,
}
TEST: dict[str, type | tuple[type, ...]] = {
    "score": (int, float),
    "max_score": (int, float),
    "status": str,
    "name": str,
    "number": str,
    "output": str,
    "output_format": str,
    "tags": list,
    "visibility": str,
}
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def check(name: str, verdict: Verdict, message: str = "") -> CheckResult:
    detail = Detail(expected="2", got="3") if verdict is Verdict.WA else None
    return CheckResult(
        id=f"test_x::{name}", title=f"`{name}` holds.", kind="oracle", why="It matters.",
        verdict=verdict, message=message, detail=detail,
    )  # fmt: skip


def result(*tiers: Sequence[CheckResult], verdict: Verdict, printed: str = "") -> Result:
    made = [
        TierResult(
            id=f"T{number}",
            title="Tier",
            verdict=checks[0].verdict if checks else Verdict.SK,
            passed=0,
            total=len(checks),
            checks=list(checks),
        )
        for number, checks in enumerate(tiers)
    ]
    return Result(
        id="1", problem="double", problem_version="abc", kind="submit", state="finished",
        verdict=verdict, score=0.5, tiers=made, seed=17,
        diagnosis=[Diagnosis(pitfall="tripled", hint="The factor is three.")],
        output=Output(text=printed),
        limits=Limits(
            wall_s=1, cpu_s=1, memory_bytes=1 << 29, output_bytes=1024, source_bytes=1024
        ),
        timing=Timing(judged_ms=1250.0),
        environment=Environment(sandbox="bwrap", image="", torch="2", numpy="2"),
    )  # fmt: skip


def written(made: Result, folder: Path) -> dict[str, object]:
    path = folder / "results.json"
    write_gradescope(gradescope_results(made), path)
    tree = json.loads(path.read_text(encoding="utf-8"))
    assert_documented(tree)
    return dict(tree)


def assert_documented(tree: dict[str, object]) -> None:
    """Only documented keys, of their types, with values that are allowed."""
    for key, value in tree.items():
        assert isinstance(value, TOP[key]), key
    tests = tree.get("tests", [])
    assert isinstance(tests, list)
    for test in tests:
        for key, value in test.items():
            assert isinstance(value, TEST[key]), key
        assert test["visibility"] in VISIBILITIES
        assert test["output_format"] in FORMATS
        assert test["status"] in {"passed", "failed"}
        assert 0 <= test["score"] <= test["max_score"]
    assert tree["visibility"] in VISIBILITIES
    assert tree["stdout_visibility"] in VISIBILITIES


MIXED = result(
    [check("a", Verdict.AC), check("b", Verdict.AC)],
    [check("c", Verdict.WA, "The value is off."), check("d", Verdict.WA, "So is this.")],
    [check("e", Verdict.SK), check("f", Verdict.SK), check("g", Verdict.SK)],
    verdict=Verdict.WA,
    printed="hello \x1b[31m<b>",
)


def test_only_documented_fields_are_written(tmp_path: Path) -> None:
    tree = written(MIXED, tmp_path)
    assert set(tree) == set(TOP)
    assert tree["execution_time"] == 1.25
    extra = {"problem": "double", "problem_version": "abc", "verdict": "WA", "seed": 17}
    assert tree["extra_data"] == extra


def test_every_check_is_worth_the_same_and_all_are_worth_a_hundred() -> None:
    results = gradescope_results(MIXED)
    tests = results.tests or []
    assert len(tests) == 7
    assert sum(test.max_score for test in tests) == pytest.approx(POINTS, abs=1e-9)
    assert max(test.max_score for test in tests) - min(test.max_score for test in tests) < 1e-3
    assert results.score == pytest.approx(100 * 2 / 7, abs=0.01)


def test_a_full_score_is_a_hundred_to_the_point() -> None:
    accepted = result([check(str(n), Verdict.AC) for n in range(7)], verdict=Verdict.AC)
    assert gradescope_results(accepted).score == POINTS


def test_the_deciding_check_says_what_was_found_and_gives_the_hint() -> None:
    first, second, skipped = [test.output for test in (gradescope_results(MIXED).tests or [])][2:5]
    assert "The value is off." in first
    assert "The factor is three." in first
    assert "It matters." in first
    assert "So is this." in second
    assert "The factor is three." not in second
    assert skipped == "Not run: what it builds on was not accepted."


def test_what_a_submission_printed_is_shown_as_text_without_anything_to_obey() -> None:
    output = gradescope_results(MIXED).output
    assert r"hello \x1b[31m<b>" in output
    assert gradescope_results(MIXED).output_format == "text"


def test_a_fault_of_ours_charges_no_score(tmp_path: Path) -> None:
    broken = result([check("a", Verdict.JE, "The grader ended.")], verdict=Verdict.JE)
    tree = written(broken, tmp_path)
    assert "score" not in tree
    assert "tests" not in tree
    assert "our fault" in str(tree["output"])
    assert "The grader ended." in str(tree["output"])


def test_a_tier_without_checks_is_still_there() -> None:
    ended = result([check("a", Verdict.TLE)], [], verdict=Verdict.TLE)
    assert [test.number for test in gradescope_results(ended).tests or []] == ["1.1", "2.1"]


def test_checks_of_an_advisory_tier_are_shown_and_give_no_points() -> None:
    made = result([check("a", Verdict.AC)], [check("b", Verdict.WA)], verdict=Verdict.AC)
    advisory = made.tiers[1].model_copy(update={"advisory": True})
    results = gradescope_results(made.model_copy(update={"tiers": [made.tiers[0], advisory]}))
    assert [test.max_score for test in results.tests or []] == [POINTS, 0.0]
    assert results.score == POINTS


def test_an_earlier_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("x" * 10_000)
    write_gradescope(unreadable_results("nothing there"), path)
    assert json.loads(path.read_text())["score"] == 0.0
    assert list(tmp_path.iterdir()) == [path]


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_problem(tmp_path / "problems")
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path / "problems"))
    monkeypatch.setenv("JUDGE_SANDBOX", "bwrap")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return status_of("run", *arguments)


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.usefixtures("lent_boxes")
def test_run_writes_what_it_judged(here: Path) -> None:
    (here / "s.py").write_text(FILES["submissions/rejected/T1/same.py"])
    assert run("double", "s.py", "--gradescope", "results.json") == 1
    tree = json.loads((here / "results.json").read_text())
    assert_documented(tree)
    assert tree["score"] == 50.0


def test_two_submissions_are_a_usage_error(here: Path) -> None:
    (here / "s.py").write_text(FILES["reference.py"])
    assert run("double", "s.py", "s.py", "--gradescope", "results.json") == 2
    assert not (here / "results.json").exists()


def test_a_folder_without_the_file_is_said_to_the_student(here: Path) -> None:
    (here / "submission").mkdir()
    assert run("double", "submission", "--gradescope", "results.json") == 2
    tree = json.loads((here / "results.json").read_text())
    assert_documented(tree)
    assert tree["score"] == 0.0
    assert "solution.py" in tree["output"]
