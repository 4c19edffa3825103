"""Two chapters of a course on a package of three lines, written where a test wants them."""

from __future__ import annotations

from pathlib import Path

from judge.problem import Problem, load_problem

MANIFEST = """\
id = "{name}"
title = "{name}"
track = "shelf"
number = 1
summary = "A chapter."
entry_points = ["{name}"]
packages = ["shelf"]
{needs}

[limits]
wall_s = 5.0
cpu_s = 5.0
memory_bytes = 536_870_912
output_bytes = 65_536
source_bytes = 65_536

[[tiers]]
id = "T0"
title = "All"
about = "Everything."
checks = "checks/test_t0_all.py"

[[files]]
name = "{name}.py"
module = "shelf.made.{name}"
starter = "starter.py"

{own_tests}
"""
OWN_TESTS = """\
[[files]]
name = "tests/test_own.py"
role = "tests"
starter = "test_starter.py"

[tests]
imports = ["numpy", "shelf", "shelf.made.{name}"]
threshold = 1.0

[course]
module = "S2"
kind = "build"
pass = 1
hours = "1 h"
rung = "R1"
builds = "shelf/made/{name}.py"
contract = "shelf/made/{name}.pyi"
course_tests = "test_{name}.py"
"""
SHELF = {
    "packages/shelf/__init__.py": "from .boards import Board\n",
    "packages/shelf/boards.py": (
        "class Board:\n    def __init__(self, values):\n        self.values = values\n"
    ),
    "packages/shelf/made/__init__.py": "",
}
STACK = """\
from shelf import Board
from shelf.made.{need} import {need}


def {name}(board):
    return Board({need}(board).values + 1)
"""
PLANE = "from shelf import Board\n\n\ndef plane(board):\n    return Board(board.values * 2)\n"
HARNESS = """\
from shelf import Board
from shelf.made.{name} import {name}


def run(values):
    return {name}(Board(values)).values
"""
RUN_CHECK = '''\
import numpy as np

from judge.checks import assert_close, check


@check(kind="oracle", why="All else stands on it.")
def test_values(submission, rng):
    """Every value is as it should be."""
    values = rng.numpy.normal(size=3)
    assert_close(submission.run(values), {expected})
'''


def chapter(
    root: Path, name: str, reference: str, expected: str, *, needs: str = "", own_tests: str = ""
) -> Problem:
    """The chapter `name` in `root`; `own_tests` is what its students' tests begin with, if any."""
    for path, text in SHELF.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    takes = OWN_TESTS.format(name=name) if own_tests else ""
    line = next(line for line in reference.splitlines() if "return" in line).strip()
    files = {
        "problem.toml": MANIFEST.format(name=name, needs=needs, own_tests=takes),
        "mutants.toml": (
            f'[[mutants]]\nid = "off"\ntitle = "Off"\nfind = "{line}"\nreplace = "return board"\n'
            'symptom = "Unchanged."\nhint = "Nothing is done."\npitfall = true\ntier = "T0"\n'
            f"graded = {str(bool(own_tests)).lower()}\n"
        ),
        "statement.md": "# It\n",
        "contract.pyi": "...\n",
        "starter.py": "...\n",
        "reference.py": reference,
        "harness.py": HARNESS.format(name=name),
        "checks/test_t0_all.py": RUN_CHECK.format(expected=expected),
        **{f"submissions/accepted/{letter}.py": reference for letter in "abc"},
    }
    if own_tests:
        files["test_starter.py"] = own_tests
    return write(root / name, files)


def write(folder: Path, files: dict[str, str]) -> Problem:
    """Write the files of a problem and load it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_problem(folder)
