"""A course in a folder of one's own, as somebody works through it on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chapters import PLANE, STACK, chapter
from tests.commands import run_judge

GOOD_TESTS = """\
import numpy as np

from shelf import Board
from shelf.made.stack import stack


def test_one_more_than_twice():
    assert (stack(Board(np.array([1.0, 2.0]))).values == [3.0, 5.0]).all()
"""
BLIND_TESTS = """\
def test_nothing_in_particular():
    assert True
"""
STACKED = STACK.format(need="plane", name="stack")


class Course:
    """A folder of a student, in which this process is, and the commands in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def judge(self, *arguments: str) -> tuple[int, str]:
        """Status and output of a command, which this process runs."""
        ended = run_judge(self._capsys, *arguments)
        return ended.status, ended.out + ended.err

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Course:
    bank, folder = tmp_path / "bank", tmp_path / "course"
    folder.mkdir()
    chapter(bank, "plane", PLANE, "2 * values")
    chapter(
        bank, "stack", STACKED, "2 * values + 1", needs='needs = ["plane"]', own_tests=BLIND_TESTS
    )
    monkeypatch.setenv("JUDGE_PROBLEMS", str(bank))
    monkeypatch.setenv("JUDGE_SANDBOX", "bwrap")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(folder)
    return Course(folder, capsys)


def test_start_writes_stub_contract_tests_and_package_and_never_over_anything(
    course: Course,
) -> None:
    status, said = course.judge("start", "stack")
    assert status == 0
    assert "S2 · stack · rung R1 · 1 h" in said
    written = {str(path.relative_to(course.folder)) for path in course.folder.rglob("*.py*")}
    assert written == {
        "shelf/made/stack.py", "shelf/made/stack.pyi", "tests/stack/test_own.py",
        "shelf/__init__.py", "shelf/boards.py", "shelf/made/__init__.py",
    }  # fmt: skip
    course.write("shelf/made/stack.py", STACKED)
    status, said = course.judge("start", "stack")
    assert status == 0
    assert (course.folder / "shelf/made/stack.py").read_text(encoding="utf-8") == STACKED
    assert "wrote" not in said


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.usefixtures("lent_boxes")
def test_a_student_works_through_two_chapters(course: Course) -> None:
    course.judge("start", "stack")
    course.write("shelf/made/stack.py", STACKED)
    status, said = course.judge("tests", "stack")
    assert (status, "plane is not passed yet; pass it, or use --ref-deps" in said) == (1, True)
    status, said = course.judge("tests", "stack", "--ref-deps")
    assert (status, "Accepted" in said) == (0, True)
    status, said = course.judge("diff", "stack")
    assert (status, "S2 is not passed yet" in said) == (1, True)

    course.judge("start", "plane")
    status, _ = course.judge("check", "plane")
    assert status == 1  # the stub
    course.write("shelf/made/plane.py", PLANE)
    status, said = course.judge("check", "plane")
    assert (status, "plane is passed" in said) == (0, True)

    status, said = course.judge("mutate", "stack")
    assert (status, "0 of 1 mistakes noticed" in said, "Unchanged." in said) == (1, True, True)
    course.write("tests/stack/test_own.py", GOOD_TESTS)
    status, said = course.judge("check", "stack")
    assert (status, "1 of 1 mistakes noticed" in said, "S2 is passed" in said) == (0, True, True)
    status, said = course.judge("mutate", "stack")
    assert (status, "this is that grade" in said, "sandbox" in said) == (0, True, False)
    status, said = course.judge("diff", "stack")
    assert (status, "word for word" in said) == (0, True)

    course.write("shelf/made/plane.py", PLANE + "\n")
    status, said = course.judge("check", "stack")
    assert (status, "plane has changed since it was passed" in said) == (1, True)


def test_in_a_process_of_its_own_results_can_be_had_as_json_one_in_a_line(course: Course) -> None:
    course.judge("start", "stack")
    course.write("shelf/made/stack.py", STACKED)
    course.write("tests/stack/test_own.py", GOOD_TESTS)
    ended = subprocess.run(
        [sys.executable, "-m", "judge", "check", "stack", "--ref-deps", "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [result["kind"] for result in results] == ["submit", "tests"]
    assert results[1]["mutation"]["matrix"] == [[True]]


def test_what_is_missing_is_said_with_what_to_do(course: Course) -> None:
    status, said = course.judge("tests", "plane")
    assert (status, "`judge start plane` begins" in said) == (2, True)
    status, said = course.judge("mutate", "plane")
    assert (status, "takes no tests of your own" in said) == (2, True)
    status, said = course.judge("mutate", "stack")
    assert (status, "there are no tests" in said) == (2, True)
