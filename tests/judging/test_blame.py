"""Whose fault a failing check is: the submission's, the problem's, or ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.results import Result
from judge.verdicts import Verdict
from tests.judging.tiny import HEADER, check_source, line_of, oracle_check, tiny_problem

RIGHT = {"solution.py": b"def double(x):\n    return x + x\n"}
WRONG = {"solution.py": b"def double(x):\n    return 3 * x\n"}
COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"


HANGS_LATER = b"""\
calls = 0

def double(x):
    global calls
    calls += 1
    while calls > 1:
        pass
    return x + x
"""


def refusal(result: Result) -> str:
    """What the stand-in for checks that cannot be collected says."""
    assert result.verdict is Verdict.JE
    assert [check.verdict for check in result.tiers[0].checks] == [Verdict.JE]
    return result.tiers[0].checks[0].message


def test_a_check_that_raises_by_itself_is_je_with_its_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, "submission.double(rng.normal(2))\n1 / 0", COMPARES)
    result = warm_judge.judge(problem, RIGHT)
    broken = oracle_check(result)
    assert broken.verdict is Verdict.JE
    assert f"problems/double/checks/test_t1_oracle.py:{line_of(problem, '1 / 0')}" in broken.message
    assert "ZeroDivisionError" in broken.message
    assert oracle_check(result, 1).verdict is Verdict.AC
    assert result.verdict is Verdict.JE


def test_a_broken_check_never_charges_a_wrong_submission(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, "assert submission.double(rng.normal(2)) is None, 'no'")
    assert oracle_check(warm_judge.judge(problem, WRONG)).verdict is Verdict.JE


def test_a_reference_that_fails_its_own_check_is_je_with_the_checks_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(
        tmp_path, COMPARES, reference="def double(x):\n    return 2 * x  + 0.5\n"
    )
    broken = oracle_check(warm_judge.judge(problem, WRONG))
    assert broken.verdict is Verdict.JE
    place = f"problems/double/checks/test_t1_oracle.py:{line_of(problem, 'assert_close(sub')}"
    assert place in broken.message


def test_a_reference_that_raises_is_je(warm_judge: Judge, tmp_path: Path) -> None:
    reference = "def double(x):\n    return 2 * x if x is None else missing\n"
    problem = tiny_problem(tmp_path, COMPARES, reference=reference)
    broken = oracle_check(warm_judge.judge(problem, WRONG))
    assert broken.verdict is Verdict.JE
    assert "problems/double/reference.py:2: " in broken.message


def test_a_reference_that_cannot_be_imported_is_je_with_its_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    reference = "import math\n\nmath.no_such_thing\n\ndef double(x):\n    return 2 * x\n"
    problem = tiny_problem(tmp_path, COMPARES, reference=reference)
    message = refusal(warm_judge.judge(problem, RIGHT))
    assert "problems/double/reference.py:3: " in message
    assert "no_such_thing" in message


@pytest.mark.parametrize(
    ("launcher", "wall_s"),
    [("docker", 0.5), ("bwrap", 2.0)],
    indirect=["launcher"],
    scope="session",  # or the other sandbox's boxes would be started in between
)
def test_a_check_that_hangs_by_itself_is_je(
    warm_judge: Judge, tmp_path: Path, wall_s: float
) -> None:
    problem = tiny_problem(tmp_path, "while True:\n    pass", wall_s=wall_s)
    broken = oracle_check(warm_judge.judge(problem, RIGHT))
    assert broken.verdict is Verdict.JE
    assert "did not end" in broken.message


def test_a_check_that_waits_for_a_hanging_submission_is_tle(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES, wall_s=0.5)
    result = warm_judge.judge(problem, {"solution.py": HANGS_LATER})
    assert [check.verdict for check in result.tiers[1].checks] == [Verdict.TLE, Verdict.SK]
    assert result.verdict is Verdict.TLE


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_a_check_cannot_swallow_a_deadline(warm_judge: Judge, tmp_path: Path, caught: str) -> None:
    body = f"""
        try:
            submission.double(rng.normal(2))
        except {caught}:
            pass
    """
    problem = tiny_problem(tmp_path, body, COMPARES, wall_s=0.5)
    result = warm_judge.judge(problem, {"solution.py": HANGS_LATER})
    assert result.verdict is Verdict.TLE


@pytest.mark.parametrize("word", ["skip", "xfail", "exit"])
def test_a_check_that_skips_itself_is_je(warm_judge: Judge, tmp_path: Path, word: str) -> None:
    problem = tiny_problem(tmp_path, f"pytest.{word}('not today')")
    assert oracle_check(warm_judge.judge(problem, RIGHT)).verdict is Verdict.JE


@pytest.mark.parametrize("mark", ["skip", "xfail"])
def test_a_check_marked_to_be_skipped_is_refused_with_its_line(
    warm_judge: Judge, tmp_path: Path, mark: str
) -> None:
    marked = HEADER + f"\n@pytest.mark.{mark}" + check_source("call", "pass")
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=marked)
    line = line_of(problem, f"mark.{mark}", "checks/test_t0_interface.py")
    message = refusal(warm_judge.judge(problem, RIGHT))
    assert f"problems/double/checks/test_t0_interface.py:{line}:" in message
    assert f"marked {mark}" in message


def test_checks_that_cannot_be_imported_are_refused_with_their_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    broken = HEADER + "import no_such_module\n" + check_source("call", "pass")
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=broken)
    line = line_of(problem, "no_such_module", "checks/test_t0_interface.py")
    message = refusal(warm_judge.judge(problem, RIGHT))
    assert f"problems/double/checks/test_t0_interface.py:{line}:" in message
    assert "no_such_module" in message


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)  # it takes the grader 10 s to see
def test_checks_that_hang_while_they_are_imported_are_refused_with_their_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    endless = HEADER + "while True:\n    pass\n" + check_source("call", "pass")
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=endless)
    line = line_of(problem, "while True", "checks/test_t0_interface.py")
    message = refusal(warm_judge.judge(problem, RIGHT))
    places = {f"checks/test_t0_interface.py:{each}: importing it" for each in (line, line + 1)}
    assert any(place in message for place in places), message


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)  # it takes the grader 20 s to see
def test_checks_that_hang_where_python_cannot_interrupt_them_are_refused(
    warm_judge: Judge, tmp_path: Path
) -> None:
    endless = HEADER + "sum(iter(int, 1))\n" + check_source("call", "pass")
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=endless)
    assert "not collected within" in refusal(warm_judge.judge(problem, RIGHT))
    assert warm_judge.judge(tiny_problem(tmp_path / "other", COMPARES), RIGHT).verdict == "AC"


def test_a_result_the_check_cannot_unpack_is_wrong(warm_judge: Judge, tmp_path: Path) -> None:
    reference = "def double(x):\n    return 2 * x, x\n"
    body = "a, b = submission.double(rng.normal(2))\nassert b is not None"
    problem = tiny_problem(tmp_path, body, reference=reference)
    failed = oracle_check(warm_judge.judge(problem, {"solution.py": b"def double(x): return 5"}))
    assert failed.verdict is Verdict.WA
    assert "unpack" in failed.message


def test_an_exception_shows_only_the_submissions_own_frames(
    warm_judge: Judge, tmp_path: Path
) -> None:
    source = b"def helper(x):\n    return {}[x.shape]\n\ndef double(x):\n    return helper(x)\n"
    problem = tiny_problem(
        tmp_path, COMPARES, checks_test_t0_interface_py=HEADER + check_source("call", "pass")
    )
    failed = oracle_check(warm_judge.judge(problem, {"solution.py": source}))
    assert failed.verdict is Verdict.RE
    assert "KeyError" in failed.message
    assert failed.detail is not None
    places = [(frame.file, frame.line, frame.function) for frame in failed.detail.frames]
    assert places == [("solution.py", 5, "double"), ("solution.py", 2, "helper")]


def test_a_check_can_ask_for_an_exception_by_its_builtin_base(
    warm_judge: Judge, tmp_path: Path
) -> None:
    reference = (
        "class Odd(ValueError):\n    pass\n\n"
        "def double(x):\n    if x.ndim > 1:\n        raise Odd('flat')\n    return 2 * x\n"
    )
    body = "with pytest.raises(ValueError, match='flat'):\n    submission.double(rng.normal(2, 2))"
    problem = tiny_problem(tmp_path, body, reference=reference)
    right = oracle_check(warm_judge.judge(problem, {"solution.py": reference.encode()}))
    wrong = oracle_check(warm_judge.judge(problem, RIGHT))
    assert (right.verdict, wrong.verdict) == (Verdict.AC, Verdict.WA)
    assert wrong.message == "This was to raise ValueError, and raised nothing."


def test_the_same_seed_draws_the_same_inputs(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES)
    first = warm_judge.judge(problem, WRONG)
    again = warm_judge.judge(problem, WRONG, seed=first.seed)
    other = warm_judge.judge(problem, WRONG, seed=first.seed + 1)
    details = [oracle_check(result).detail for result in (first, again, other)]
    assert details[0] == details[1] != details[2]


def test_source_above_the_limit_is_refused_unparsed(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES)
    result = warm_judge.judge(problem, {"solution.py": b"#" * 65_537})
    assert result.verdict is Verdict.CE
    assert [tier.verdict for tier in result.tiers] == [Verdict.CE, Verdict.SK]
    assert "longer than 65,536 bytes" in result.tiers[0].checks[0].message
