"""A student's own lines, run after the solution: what they see, and what they cannot do."""

from __future__ import annotations

from pathlib import Path

from judge.events import Event, Finished, TierFinished, TierStarted
from judge.judging import Judge
from judge.problem import Problem
from judge.results import CheckResult, Result
from judge.verdicts import Verdict
from tests.judging.tiny import tiny_problem

CHECKS = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
RIGHT = """\
import math

_kept = 3

def double(x):
    return x + x

def fail(x):
    raise ValueError(f"no {x}")

print("imported")
"""


def run(
    judge: Judge, problem: Problem, scratch: str, solution: str = RIGHT, **how: object
) -> Result:
    files = {"solution.py": solution.encode(), "scratch.py": scratch.encode()}
    result = judge.judge(problem, files, kind="run", **how)  # type: ignore[arg-type]
    assert [tier.id for tier in result.tiers] == ["scratch", "T0", "T1"]
    for tier in result.tiers[1:]:
        assert (tier.verdict, tier.total, tier.checks) == (Verdict.SK, 0, [])
    first = result.tiers[0]
    assert (first.verdict, first.passed, first.total) == (
        result.verdict, int(result.verdict is Verdict.AC), 1,
    )  # fmt: skip
    assert result.score == first.passed
    return result


def the_check(result: Result) -> CheckResult:
    (check,) = result.tiers[0].checks
    assert check.verdict is result.verdict
    return check


def places(result: Result) -> list[tuple[str, int, str]]:
    detail = the_check(result).detail
    assert detail is not None
    return [(frame.file, frame.line, frame.function) for frame in detail.frames]


def test_it_has_the_solutions_names_and_what_it_prints_is_shown(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    scratch = (
        "import solution\n"
        "print(double(21), _kept, math.floor(2.5), __name__, __file__)\n"
        "print(solution.double is double)\n"
        "double = None\n"
        "print(solution.double(1))\n"
    )
    result = run(warm_judge, problem, scratch)
    assert result.verdict is Verdict.AC
    assert result.output.text == "imported\n42 3 2 scratch scratch.py\nTrue\n2\n"
    assert the_check(result).message == ""
    assert the_check(result).detail is None


def test_what_is_provided_is_defined_too(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    folder = problem.folder
    (folder / "provided.py").write_text("def halve(x):\n    return x / 2\n")
    manifest = (folder / "problem.toml").read_text()
    names = 'entry_points = ["double"]\n'
    (folder / "problem.toml").write_text(
        manifest.replace(names, f'{names}provided_names = ["halve"]\n')
    )
    problem = tiny_problem(tmp_path, CHECKS, problem_toml=(folder / "problem.toml").read_text())
    result = run(warm_judge, problem, "print(halve(double(3)))")
    assert result.output.text == "imported\n3.0\n"


def test_an_exception_has_its_lines_in_both_files(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    result = run(warm_judge, problem, "x = 1\n\nprint('before')\nfail(x)\nprint('after')\n")
    assert result.verdict is Verdict.RE
    assert the_check(result).message == "The code raised ValueError: no 1"
    assert places(result) == [("scratch.py", 4, "<module>"), ("solution.py", 9, "fail")]
    assert result.output.text == "imported\nbefore\n"


def test_what_does_not_compile_says_in_which_file(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    mine = run(warm_judge, problem, "x = 1\nprint(\n")
    assert mine.verdict is Verdict.CE
    assert places(mine) == [("scratch.py", 2, "")]
    assert "was never closed" in the_check(mine).message
    assert mine.output.text == "imported\n"
    theirs = run(warm_judge, problem, "print('never')", "def double(x:\n")
    assert theirs.verdict is Verdict.CE
    assert places(theirs)[0][0] == "solution.py"
    raising = run(warm_judge, problem, "print('never')", "print('once')\n1 / 0\n")
    assert raising.verdict is Verdict.CE
    assert places(raising) == [("solution.py", 2, "<module>")]
    assert raising.output.text == "once\n"


def test_it_keeps_to_the_limits(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path / "short", CHECKS, wall_s=1.0)
    for endless in ("while True: pass", "import time; time.sleep(60)"):
        assert run(warm_judge, problem, endless).verdict is Verdict.TLE
    problem = tiny_problem(tmp_path, CHECKS, wall_s=4.0)
    for scratch, verdict in {
        "import torch; torch.ones(1 << 28).sum()": Verdict.MLE,
        "while True: print('x' * 1000)": Verdict.OLE,
        "import os; os._exit(0)": Verdict.RE,
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": Verdict.RE,
        "raise SystemExit(0)": Verdict.RE,
        "raise KeyboardInterrupt": Verdict.RE,
        "def f(): f()\nf()": Verdict.RE,
        "open('/etc/passwd', 'w')": Verdict.RE,
        "print(len(dir()) > 3)": Verdict.AC,
    }.items():
        result = run(warm_judge, problem, scratch)
        assert result.verdict is verdict, (scratch, the_check(result).message)


def test_it_is_counted_in_the_size(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    result = run(warm_judge, problem, "#" * problem.limits.source_bytes)
    assert result.verdict is Verdict.CE
    assert "was not read" in the_check(result).message


def test_a_submission_has_no_scratch_file(warm_judge: Judge, tmp_path: Path) -> None:
    """It is one more module then, which nothing runs: it cannot make anything accepted."""
    problem = tiny_problem(tmp_path, CHECKS)
    scratch = b"import solution\nsolution.double = lambda x: x + x\nprint('ran')\n"
    wrong = b"def double(x):\n    return x * 3\n"
    files = {"solution.py": wrong, "scratch.py": scratch}
    result = warm_judge.judge(problem, files)
    assert result.verdict is Verdict.WA
    assert [tier.id for tier in result.tiers] == ["T0", "T1"]
    assert result.output.text == ""


def test_a_solution_that_answers_for_it_is_no_harm(warm_judge: Judge, tmp_path: Path) -> None:
    """It fools whoever wrote it, in a run that counts nowhere; the next submission is as ever."""
    problem = tiny_problem(tmp_path, CHECKS)
    forging = (
        "import builtins, sandbox.runner.student as student\n"
        "from sandbox.protocol import Executed\n"
        "student.Student._execute = lambda self, request: Executed(request.id)\n"
        "def double(x): return x * 3\n"
    )
    result = run(warm_judge, problem, "raise ValueError", forging)
    assert result.verdict in (Verdict.AC, Verdict.RE, Verdict.CE)
    silent = forging.replace("Executed(request.id)", "Executed(request.id + 1)")
    assert run(warm_judge, problem, "", silent).verdict in (Verdict.RE, Verdict.CE)
    wrong = warm_judge.judge(problem, {"solution.py": b"def double(x):\n    return x * 3\n"})
    assert wrong.verdict is Verdict.WA


def test_its_events_come_in_order(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, CHECKS)
    events: list[Event] = []
    run(warm_judge, problem, "print(1)", on_event=events.append)
    assert isinstance(events[0], TierStarted)
    assert isinstance(events[-1], Finished)
    ended = [event.tier for event in events if isinstance(event, TierFinished)]
    assert ended == ["scratch", "T0", "T1"]


def test_an_exercise_whose_own_file_has_that_name_keeps_it(
    warm_judge: Judge, tmp_path: Path
) -> None:
    manifest = (tiny_problem(tmp_path, CHECKS).folder / "problem.toml").read_text()
    two = manifest + '\n[[files]]\nname = "scratch.py"\nstarter = "starter.py"\n'
    problem = tiny_problem(tmp_path, CHECKS, problem_toml=two)
    files = {"solution.py": RIGHT.encode(), "scratch.py": b"1 / 0\n"}
    result = warm_judge.judge(problem, files, kind="run")
    assert [tier.id for tier in result.tiers] == ["T0", "T1"]
    assert result.verdict is Verdict.AC
