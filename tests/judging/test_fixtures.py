"""What checks find: what they ask for, be it pytest's own to set up, and torch as it should be."""

from __future__ import annotations

from pathlib import Path

from judge.judging import Judge
from judge.problem import Problem, load_problem
from judge.verdicts import Verdict
from tests.judging.tiny import HEADER, MUTANTS, oracle_check, tiny_problem
from tests.small_problem import write_problem

RIGHT = {"solution.py": b"def double(x):\n    return x + x\n"}
OF_THE_AUTHORS = """\
seen = []


@pytest.fixture
def three(rng):
    return rng.normal(3)


@pytest.fixture(autouse=True)
def noted(request):
    seen.append(request.node.name)
    yield
    seen.append("done")


@check(kind="unit", why="A fixture of the author's own is set up.")
def test_own_fixture(submission, three):
    \"\"\"Three numbers are doubled.\"\"\"
    assert_close(submission.double(three), three + three)


@check(kind="unit", why="A fixture that no check names is set up too.")
def test_unnamed_fixture(submission, rng):
    \"\"\"Everything before was set up and torn down.\"\"\"
    assert seen[-2:] == ["done", "test_unnamed_fixture"], seen
    submission.double(rng.normal(2))
"""
OVERRIDDEN = """\
@pytest.fixture
def rng():
    return 7


@check(kind="unit", why="The author's fixture hides the judge's.")
def test_rng(submission, rng):
    \"\"\"Seven is doubled.\"\"\"
    assert rng == 7, rng
    assert submission.double(rng) == 14
"""


def problem_with(root: Path, checks: str) -> Problem:
    return load_problem(
        write_problem(
            root,
            checks_test_t1_oracle_py=HEADER + checks,
            mutants_toml=MUTANTS,
        )
    )


def test_fixtures_of_the_author_are_set_up(warm_judge: Judge, tmp_path: Path) -> None:
    result = warm_judge.judge(problem_with(tmp_path, OF_THE_AUTHORS), RIGHT)
    assert [(check.verdict, check.message) for check in result.tiers[1].checks] == [
        (Verdict.AC, ""),
        (Verdict.AC, ""),
    ]


def test_a_fixture_of_the_author_hides_the_judges_own(warm_judge: Judge, tmp_path: Path) -> None:
    result = warm_judge.judge(problem_with(tmp_path, OVERRIDDEN), RIGHT)
    assert [(check.verdict, check.message) for check in result.tiers[1].checks] == [
        (Verdict.AC, ""),
    ]


def test_a_check_that_trains_does_not_import_torchs_compiler(
    warm_judge: Judge, tmp_path: Path
) -> None:
    trains = """
        import sys
        layer = torch.nn.Linear(3, 1)
        layer(submission.double(rng.normal(3, dtype=torch.float32))).sum().backward()
        torch.optim.Adam(layer.parameters()).step()
        assert "torch._dynamo.eval_frame" not in sys.modules
    """
    check = oracle_check(warm_judge.judge(tiny_problem(tmp_path, trains), RIGHT))
    assert (check.verdict, check.message) == (Verdict.AC, "")
