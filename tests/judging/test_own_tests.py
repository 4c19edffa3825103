"""Students' own tests: what is accepted, what each refusal says, and what a cheat finds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from judge.events import (
    ChartDrawn,
    CheckFinished,
    Event,
    Finished,
    MutantFinished,
    Restarted,
    TierFinished,
    TierStarted,
)
from judge.judging import Judge
from judge.problem import Problem, load_problem
from judge.results import CheckResult, Mutation, Result
from judge.slots import Slot, runner_spec
from judge.verdicts import Verdict
from sandbox.boxes import Box, Launcher
from tests.chapters import PLANE, STACK, chapter
from tests.judging import unscanned
from tests.judging.boxes import freeze, runner_box, with_only
from tests.small_problem import MANIFEST, write_problem

Take = Callable[[Box], None]
FILE = "tests/test_own.py"
OWN = """
[[files]]
name = "tests/test_own.py"
role = "tests"
starter = "own_starter.py"

[tests]
imports = ["numpy", "pytest", "solution"]
threshold = {threshold}
must_kill = ["tripled"]
wall_s = {wall_s}
"""
MUTANT = """
[[mutants]]
id = "{id}"
title = "The title of {id}"
find = "    return 2 * x"
replace = "    {code}"
symptom = "The symptom of {id}."
hint = "A hint."
pitfall = {pitfall}
graded = true
tier = "T1"
"""
MUTANTS = {"tripled": "return 3 * x", "halved": "return x / 2", "kept": "return x"}
TRIPLED, HALVED, KEPT = SHOWN = ("m1", "m2", "m3")  # as students see them, who are not to be told


def own_problem(
    root: Path,
    mutants: dict[str, str] | None = None,
    *,
    threshold: float = 0.6,
    wall_s: float = 5.0,
    **changed: str,
) -> Problem:
    """The small problem, taking tests: `tripled` may not be missed, and 0.6 of the mutants."""
    graded = "".join(
        MUTANT.format(id=name, code=code, pitfall=str(name == "tripled").lower())
        for name, code in (mutants or MUTANTS).items()
    )
    manifest = MANIFEST + OWN.format(threshold=threshold, wall_s=wall_s)
    folder = write_problem(root, problem_toml=manifest, mutants_toml=graded, **changed)
    (folder / "own_starter.py").write_text("def test_nothing(): pass\n")
    return load_problem(folder)


HEAD = "import numpy as np\nimport pytest\nfrom solution import double\n\n"
GOOD = """\
@pytest.mark.parametrize("x", [1.0, -2.5])
def test_numbers(x):
    \"\"\"A number is doubled.\"\"\"
    assert double(x) == x + x

def test_arrays():
    np.testing.assert_array_equal(double(np.ones(2)), np.full(2, 2.0))

def test_zero():
    assert double(0) == 0
"""
NAMES = [
    "test_own::test_numbers[1.0]", "test_own::test_numbers[-2.5]",
    "test_own::test_arrays", "test_own::test_zero",
]  # fmt: skip


def grade(judge: Judge, problem: Problem, source: str, **how: object) -> Result:
    files = {FILE: (HEAD + dedent(source)).encode()}
    result = judge.judge(problem, files, kind="tests", **how)  # type: ignore[arg-type]
    first, *others = result.tiers
    assert (first.id, first.title) == ("tests", "Your tests")
    assert first.verdict is result.verdict
    for tier in others:
        assert (tier.verdict, tier.total, tier.checks) == (Verdict.SK, 0, [])
    assert result.output.text == ""
    assert result.diagnosis == []
    return result


def checks(result: Result) -> dict[str, CheckResult]:
    return {check.id: check for check in result.tiers[0].checks}


def only_check(result: Result) -> CheckResult:
    (check,) = result.tiers[0].checks
    assert check.id == "suite"
    assert (result.mutation, result.charts, result.score) == (None, [], 0.0)
    return check


def graded(result: Result) -> Mutation:
    assert result.mutation is not None
    return result.mutation


# --- grades ---------------------------------------------------------------------------------------


def test_tests_that_notice_everything_are_accepted_with_their_matrix(
    warm_judge: Judge, tmp_path: Path
) -> None:
    events: list[Event] = []
    result = grade(warm_judge, own_problem(tmp_path), GOOD, on_event=events.append)
    assert (result.verdict, result.score) == (Verdict.AC, 1.0)
    mutation = graded(result)
    assert mutation.tests == NAMES
    assert mutation.mutants == list(SHOWN)
    assert mutation.matrix == [[True] * 3, [True] * 3, [True] * 3, [False] * 3]
    assert (mutation.survivors, mutation.must_kill, mutation.flaky) == ([], [TRIPLED], [])
    names = dict(zip(SHOWN, MUTANTS, strict=True))
    assert mutation.titles == {shown: f"The title of {name}" for shown, name in names.items()}
    assert mutation.symptoms == {shown: f"The symptom of {name}." for shown, name in names.items()}
    found = checks(result)
    assert list(found) == [*NAMES, "mutants"]
    assert [found[name].title for name in NAMES] == ["A number is doubled."] * 2 + NAMES[2:]
    assert {check.verdict for check in found.values()} == {Verdict.AC}

    (chart,) = result.charts
    assert chart.tier == "tests"
    assert len(chart.table) == 12
    assert {"test": NAMES[3], "mistake": KEPT, "result": "not noticed"} in chart.table
    assert isinstance(events[0], TierStarted)
    assert isinstance(events[-1], Finished)
    tried = [event for event in events if isinstance(event, MutantFinished)]
    assert {event.mutant for event in tried} == set(SHOWN)
    assert [(event.done, event.total) for event in tried] == [(1, 3), (2, 3), (3, 3)]
    assert all(event.killed_by == NAMES[:3] for event in tried)
    kinds = [type(event) for event in events if not isinstance(event, MutantFinished)]
    assert kinds == [
        TierStarted, ChartDrawn, *[CheckFinished] * 5, *[TierFinished] * 3, Finished,
    ]  # fmt: skip


def test_a_mistake_that_may_not_be_missed_decides_whatever_the_score(
    warm_judge: Judge, tmp_path: Path
) -> None:
    result = grade(
        warm_judge,
        own_problem(tmp_path),
        "def test_not_too_small():\n    assert double(2.0) >= 4.0\n",
    )
    mutation = graded(result)
    assert mutation.score == pytest.approx(2 / 3)
    assert mutation.score >= mutation.threshold
    assert (result.verdict, mutation.survivors) == (Verdict.WA, [TRIPLED])
    message = checks(result)["mutants"].message
    assert "2 of 3 known mistakes, 66 %; at least 60 %" in message
    assert "may not be missed:\n- The symptom of tripled." in message
    assert set(mutation.titles) == {HALVED, KEPT}
    assert "title of tripled" not in result.model_dump_json()


def test_a_score_below_the_threshold_is_not_enough(warm_judge: Judge, tmp_path: Path) -> None:
    result = grade(
        warm_judge,
        own_problem(tmp_path),
        "def test_not_too_large():\n    assert double(2.0) <= 4.0\n",
    )
    assert (result.verdict, graded(result).survivors) == (Verdict.WA, [HALVED, KEPT])
    message = checks(result)["mutants"].message
    assert "The symptom of halved." in message
    assert "may not be missed" not in message


def test_the_same_seed_gives_the_same_sequence(warm_judge: Judge, tmp_path: Path) -> None:
    problem = own_problem(tmp_path)
    events: list[Event] = []
    for _ in range(2):
        grade(warm_judge, problem, GOOD, seed=5, on_event=events.append)
    tried = [event.mutant for event in events if isinstance(event, MutantFinished)]
    assert tried[:3] == tried[3:]


# --- refusals -------------------------------------------------------------------------------------


def test_tests_that_fail_on_the_reference_are_refused_with_their_own_line(
    warm_judge: Judge, tmp_path: Path
) -> None:
    source = f"{GOOD}\ndef test_wrong():\n    x = 3\n    assert double(x) == 7, 'seven'\n"
    result = grade(warm_judge, own_problem(tmp_path), source)
    assert (result.verdict, result.mutation, result.charts) == (Verdict.WA, None, [])
    wrong = checks(result)["test_own::test_wrong"]
    assert "fails on a right solution" in wrong.message
    assert "seven\nassert 6 == 7" in wrong.message
    assert wrong.detail is not None
    assert [frame.text for frame in wrong.detail.frames] == ["assert double(x) == 7, 'seven'"]
    assert [check.verdict for check in checks(result).values()] == [*[Verdict.AC] * 4, Verdict.WA]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("[double(1)] * 40 == list(range(40))", "At index 0 diff: 2 != 0"),
        ("{i: double(i) for i in range(40)} == {}", "Left contains 40 more items:"),
        ("{0: 0, 1: double(1)} == {0: 0, 1: 1}", "Omitting 1 identical items"),
        ("'x' * 99 + str(double(1)) == 'x' * 99", "identical leading characters in diff"),
    ],
)
def test_what_pytest_leaves_out_is_told_without_an_option_nobody_can_give(
    warm_judge: Judge, tmp_path: Path, wrong: str, said: str
) -> None:
    source = f"{GOOD}\ndef test_wrong():\n    assert {wrong}\n"
    result = grade(warm_judge, own_problem(tmp_path), source)
    message = checks(result)["test_own::test_wrong"].message
    assert said in message
    assert "-v" not in message


def test_tests_that_insist_on_one_way_of_writing_it_are_refused(
    warm_judge: Judge, tmp_path: Path
) -> None:
    by_adding = "class Odd:\n    def __{}mul__(self, other): return 'by a product'\n"
    source = (
        by_adding.format("r") + "\ndef test_way():\n    assert double(Odd()) == 'by a product'\n"
    )
    result = grade(warm_judge, own_problem(tmp_path), source)
    assert (result.verdict, result.mutation) == (Verdict.WA, None)
    assert "insists on one way" in checks(result)["test_own::test_way"].message


def test_flaky_tests_are_named(warm_judge: Judge, tmp_path: Path) -> None:
    source = (
        f"{GOOD}\nseen = []\ndef test_first(): seen.append(1)\ndef test_second(): assert seen\n"
    )
    result = grade(warm_judge, own_problem(tmp_path), source)
    assert result.verdict is Verdict.WA
    assert graded(result).flaky == ["test_own::test_second"]
    assert graded(result).mutants == []
    assert result.charts == []
    flaky = checks(result)["test_own::test_second"]
    assert "independent of chance" in flaky.message


def test_tests_that_change_from_run_to_run_are_refused(warm_judge: Judge, tmp_path: Path) -> None:
    source = """\
    names = [str(n) for n in np.random.default_rng().integers(1 << 60, size=2)]
    @pytest.mark.parametrize("name", names)
    def test_a(name): pass
    """
    result = grade(warm_judge, own_problem(tmp_path), source)
    assert result.verdict is Verdict.WA
    assert "changes from one run to the next" in only_check(result).message


REFUSED = {
    "x = (": (Verdict.CE, "tests/test_own.py: The code does not compile"),
    "from solution import nothing": (Verdict.CE, "cannot import name 'nothing'"),
    "1 / 0": (Verdict.CE, "ZeroDivisionError"),
    "def helper(): pass": (Verdict.WA, "No tests were found"),
    "import inspect": (Verdict.RV, "line 5: `inspect` cannot be imported here"),
    "print(open('/proc/self/maps').read())": (Verdict.RV, "`open` is not available"),
    "double.__code__": (Verdict.RV, "`__code__` cannot be used"),
    "'{0.__code__.co_consts}'.format(double)": (Verdict.RV, "f-string"),
    "def test_a(request): pass": (Verdict.RV, "no fixture `request`"),
    "while True: pass": (Verdict.TLE, "took longer than 2 s"),
    "np.ones(1 << 32)": (Verdict.MLE, "out of memory"),
    "while True: print('x' * 1000)": (Verdict.OLE, "printed more than 64 KiB"),
}


@pytest.mark.parametrize("source", REFUSED)
def test_tests_that_cannot_be_run_say_why(warm_judge: Judge, tmp_path: Path, source: str) -> None:
    verdict, words = REFUSED[source]
    result = grade(warm_judge, own_problem(tmp_path, wall_s=2.0), source)
    check = only_check(result)
    assert (result.verdict, check.verdict) == (verdict, verdict), check.message
    assert words in check.message


BROKEN_LIMITS = {
    "while True: pass": (Verdict.TLE, "took longer than 2 s"),
    "np.ones(1 << 32)": (Verdict.MLE, "out of memory"),
    "while True: print('x' * 1000)": (Verdict.OLE, "printed more than 64 KiB"),
}


@pytest.mark.parametrize("line", BROKEN_LIMITS)
def test_a_test_that_breaks_a_limit_is_the_one_that_is_told(
    warm_judge: Judge, tmp_path: Path, line: str
) -> None:
    verdict, words = BROKEN_LIMITS[line]
    source = f"def test_a(): pass\ndef test_b():\n    {line}\n"
    result = grade(warm_judge, own_problem(tmp_path, wall_s=2.0), source)
    broken = checks(result)["test_own::test_b"]
    assert (result.verdict, broken.verdict) == (verdict, verdict)
    assert words in broken.message
    assert checks(result)["test_own::test_a"].verdict in (Verdict.AC, Verdict.SK)


def test_other_files_and_other_exercises_take_no_tests(warm_judge: Judge, tmp_path: Path) -> None:
    problem = own_problem(tmp_path / "own")
    for files, words in {
        "solution.py": "rename or leave out",
        "tests/conftest.py": "rename or leave out",
        "tests/../test_a.py": "rename or leave out",
    }.items():
        result = warm_judge.judge(problem, {files: b""}, kind="tests")
        assert result.verdict is Verdict.CE
        assert words in only_check(result).message
    assert warm_judge.judge(problem, {}, kind="tests").verdict is Verdict.CE
    large = warm_judge.judge(problem, {FILE: b"#" * 70_000}, kind="tests")
    assert "was not read" in only_check(large).message
    plain = load_problem(write_problem(tmp_path / "plain"))
    assert (
        "takes no tests"
        in only_check(warm_judge.judge(plain, {FILE: GOOD.encode()}, kind="tests")).message
    )


# --- mutants that hang, die and cannot be imported by ---------------------------------------------


def test_a_test_that_hangs_or_dies_on_a_mutant_has_noticed_it_and_no_other_has(
    warm_judge: Judge, tmp_path: Path
) -> None:
    mutants = {
        "tripled": "return 3 * x",
        "endless": "while x is not None: pass",
        "recursive": "return double(x)",
        "fatal": "import os; os._exit(0)",
        # More than the limit and what a pipe holds, so that it cannot end before it is seen.
        "flooding": "print('x' * 300_000); return 2 * x",
    }
    source = "def test_a(): assert double(1) == 2\ndef test_b(): assert True\n"
    result = grade(warm_judge, own_problem(tmp_path, mutants, wall_s=1.5), source)
    assert result.verdict is Verdict.AC, checks(result)
    first, second = graded(result).matrix
    assert (first, second) == ([True] * 5, [False] * 5)


def test_a_file_that_fails_to_be_imported_on_a_mutant_notices_it_with_all_its_tests(
    warm_judge: Judge, tmp_path: Path
) -> None:
    files = {
        "tests/test_a.py": b"from solution import double\ndef test_x(): assert double(1) == 2\n",
        "tests/test_b.py": b"import solution\nassert solution.double(1) < 3\ndef test_y(): pass\n",
    }
    result = warm_judge.judge(own_problem(tmp_path), files, kind="tests")
    assert result.verdict is Verdict.AC
    assert graded(result).tests == ["test_a::test_x", "test_b::test_y"]
    # Where one file cannot be imported, no test runs.
    assert graded(result).matrix == [[False, True, True], [True, False, False]]


# --- cheats ---------------------------------------------------------------------------------------


def test_ways_around_the_scan_find_nothing(warm_judge: Judge, tmp_path: Path) -> None:
    source = """\
    import solution
    ways = {
        "numpy": lambda n=np: n.load("/etc/passwd"),
        "inside numpy": lambda n=np: n.lib,
        "testing": lambda t=np.testing: t.measure("1"),
        "pytest": lambda p=pytest: p.skip("no"),
        "marks": lambda m=pytest.mark: m.skip,
        "math": lambda m=solution: m.math,
        "open": lambda: open("/etc/passwd"),
        "getattr": lambda: getattr(solution, "math"),
        "eval": lambda: eval("1"),
    }
    def names(open, getattr, eval): pass

    @pytest.mark.parametrize("way", ways)
    def test_way(way):
        with pytest.raises((NameError, AttributeError)):
            ways[way]()
    """
    reference = "import math\n\n\ndef double(x):\n    return 2 * x\n"
    result = grade(warm_judge, own_problem(tmp_path, reference_py=reference), source)
    found = checks(result)
    assert found.pop("mutants").verdict is Verdict.WA
    assert len(found) == 9
    assert {check.verdict for check in found.values()} == {Verdict.AC}, found


@pytest.fixture(scope="module")
def open_slot(launcher: Launcher, warm_judge: Judge) -> Iterator[Slot]:
    """A slot beside a warm grader, whose boxes let tests do anything; all else is as ever."""
    spec = replace(runner_spec(), entry=unscanned.ENTRY, packages=unscanned.PACKAGES)
    slot = Slot(lambda: launcher.launch(spec, warm_judge._shared), None, launcher.name)
    yield slot
    slot.kill()


@pytest.fixture
def open_judge(warm_judge: Judge, open_slot: Slot) -> Iterator[Judge]:
    """A judge whose sandbox lets students' tests use all of Python, as long as the test lasts."""
    with with_only(warm_judge, open_slot) as judge:
        yield judge


def test_without_the_scan_there_is_no_trace_of_earlier_runs(
    open_judge: Judge, tmp_path: Path
) -> None:
    source = """\
    import os, sys, builtins
    def test_run():
        for place in ("/tmp/run", "/dev/shm/run", "/var/tmp/run"):
            assert not os.path.exists(place)
            try:
                open(place, "w").close()
            except OSError:
                assert not place.startswith("/tmp")
        assert not hasattr(builtins, "run") and "run" not in sys.modules
        builtins.run = sys.modules["run"] = 1
    """
    result = grade(open_judge, own_problem(tmp_path), source)
    assert checks(result)["test_own::test_run"].verdict is Verdict.AC, checks(result)
    assert graded(result).survivors == list(SHOWN)


SNIFFING = {
    "constants": "assert 3 not in double.__code__.co_consts",
    "names": "assert 'BINARY_OP' and double.__code__.co_names == ()",
    "bytecode": "assert hash(double.__code__.co_code) == hash((lambda x: 2 * x).__code__.co_code)",
    "source": "import linecache, sys; assert '2 * x' in str(linecache.cache.get('solution.py'))",
    "lines": "assert double.__code__.co_firstlineno == 1",
}


@pytest.mark.parametrize("how", SNIFFING)
def test_without_the_scan_what_is_written_tells_no_mutant(
    open_judge: Judge, tmp_path: Path, how: str
) -> None:
    """In plain sight each of these would tell the reference from a mutant, or know it again."""
    result = grade(open_judge, own_problem(tmp_path), f"def test_sniff():\n    {SNIFFING[how]}\n")
    assert result.verdict is Verdict.WA
    assert result.mutation is None
    assert checks(result)["test_own::test_sniff"].verdict is Verdict.WA


FORGE = """\
    import os, msgspec
    from sandbox.protocol import PREFIX, RanTest, RanTests
    for message in [{}]:
        header = msgspec.msgpack.encode(message)
        os.write(3, PREFIX.pack(len(header), 0) + header)
"""
DYING = {
    "import os; os._exit(0)": "exit status 0",
    "import os; os.kill(os.getpid(), 11)": "SIGSEGV",
    "import os; os.close(3)": "",
    "import os; os.write(3, bytes(99))": "wrote to the judge's connection",
    FORGE.format("RanTests(1)").strip(): "out of turn",
    FORGE.format("RanTest(1, 250, None)").strip(): "out of turn",
    FORGE.format("RanTest(2, 0, None)").strip(): "out of turn",
    FORGE.format("RanTest(1, 0, None), RanTest(1, 0, None)").strip(): "out of turn",
}


@pytest.mark.parametrize("code", DYING)
def test_without_the_scan_an_end_or_a_forged_answer_is_no_pass(
    open_judge: Judge, tmp_path: Path, code: str
) -> None:
    source = f"def test_a():\n    {code}\ndef test_b(): pass\n"
    result = grade(open_judge, own_problem(tmp_path), source)
    assert result.verdict is Verdict.RE, checks(result)
    assert result.mutation is None
    assert DYING[code] in " ".join(check.message for check in checks(result).values())


def test_without_the_scan_a_forged_run_notices_nothing(open_judge: Judge, tmp_path: Path) -> None:
    forged = FORGE.format("RanTest(1, 0, None), RanTests(1)")
    result = grade(open_judge, own_problem(tmp_path), f"def test_a():\n{forged}    os._exit(0)\n")
    assert result.verdict is Verdict.WA
    assert graded(result).survivors == list(SHOWN)


def test_after_all_that_a_good_suite_is_accepted(open_judge: Judge, tmp_path: Path) -> None:
    assert grade(open_judge, own_problem(tmp_path), GOOD).verdict is Verdict.AC


# --- faults that are not the student's ------------------------------------------------------------


def kill(box: Box) -> None:
    box.kill()


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize(
    ("launcher", "take"),
    [("docker", kill), ("bwrap", freeze)],
    indirect=["launcher"],
    scope="session",  # or the other sandbox's boxes would be started in between
)
def test_a_box_that_is_lost_while_tests_run_costs_nothing(
    warm_judge: Judge, tmp_path: Path, take: Take
) -> None:
    source = f"{GOOD}\ndef test_slow():\n    for _ in range(3_000_000): pass\n"
    events: list[Event] = []

    def listen(event: Event) -> None:
        if isinstance(event, TierStarted) and not events:
            threading.Thread(target=take, args=(runner_box(warm_judge),)).start()
        events.append(event)

    result = grade(warm_judge, own_problem(tmp_path, wall_s=2.0), source, on_event=listen)
    assert result.verdict is Verdict.AC, checks(result)
    assert graded(result).matrix[-1] == [False] * 3
    assert any(isinstance(event, Restarted) for event in events)


def test_a_mutant_that_cannot_be_loaded_is_the_exercises_fault(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = own_problem(tmp_path, {"tripled": "return 3 * x\\n\\n\\nraise ValueError"})
    result = grade(warm_judge, problem, GOOD)
    assert result.verdict is Verdict.JE
    message = only_check(result).message
    assert "broken, not your tests" in message
    assert "the mutant 'The title of tripled' could not be loaded" in message


# --- what an exercise builds on -------------------------------------------------------------------


def test_a_students_own_solution_takes_the_place_of_what_an_exercise_needs(
    warm_judge: Judge, tmp_path: Path
) -> None:
    chapter(tmp_path, "plane", PLANE, "values * 2")
    upper = chapter(
        tmp_path,
        "stack",
        STACK.format(name="stack", need="plane"),
        "values * 2 + 1",
        needs='needs = ["plane"]',
        own_tests="x",
    )
    right = {upper.main_file: upper.reference}
    path = "shelf/made/plane.py"
    assert list(upper.needed_modules) == [path]
    assert warm_judge.judge(upper, right).verdict is Verdict.AC
    wrong = PLANE.replace("* 2", "* 3").encode()
    assert warm_judge.judge(upper, {**right, path: wrong}).verdict is Verdict.WA
    padding = b"#" * (upper.limits.source_bytes - 10)
    assert warm_judge.judge(upper, {**right, path: PLANE.encode() + padding}).verdict is Verdict.AC
    suite = b"""\
from shelf import Board
from shelf.made.stack import stack
import shelf.made.stack

def test_five():
    assert shelf.made.stack.stack(Board(2)).values == stack(Board(2)).values == 5
"""
    result = warm_judge.judge(upper, {FILE: suite}, kind="tests")
    assert result.verdict is Verdict.AC, checks(result)
