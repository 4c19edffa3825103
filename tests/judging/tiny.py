"""A problem of one function, whose checks a test writes itself."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from judge.problem import Problem, load_problem
from judge.results import CheckResult, Result
from tests.small_problem import MANIFEST, write_problem

HEADER = """\
import numpy as np
import pytest
import torch

from judge.checks import assert_close, check, fail

"""

MUTANTS = """\
[[mutants]]
id = "respaced"
title = "Respaced"
find = "def double"
replace = "def  double"
symptom = "None at all."
pitfall = false
tier = "T1"
"""


def check_source(name: str, body: str) -> str:
    """A check `test_<name>` with this body; `submission`, `rng` and `charts` are its fixtures."""
    return (
        '\n@check(kind="unit", why="A test needs it.")\n'
        f"def test_{name}(submission, rng, charts):\n"
        f'    """The check {name} holds."""\n'
        f"{indent(dedent(body).strip(), '    ')}\n"
    )


def tiny_problem(
    root: Path,
    *bodies: str,
    reference: str = "def double(x):\n    return 2 * x\n",
    wall_s: float = 5.0,
    **changed: str,
) -> Problem:
    """The small problem with these bodies as the checks of T1, called `first`, `second`, ..."""
    names = ("first", "second", "third", "fourth")
    checks = HEADER + "".join(map(check_source, names, bodies))
    interface = HEADER + check_source("call", "submission.double(rng.normal(2))")
    changed.setdefault("checks_test_t0_interface_py", interface)
    changed.setdefault("mutants_toml", MUTANTS)
    changed.setdefault("problem_toml", MANIFEST.replace("wall_s = 5.0", f"wall_s = {wall_s}"))
    return load_problem(
        write_problem(
            root,
            checks_test_t1_oracle_py=checks,
            reference_py=reference,
            **changed,
        )
    )


def line_of(problem: Problem, text: str, file: str = "checks/test_t1_oracle.py") -> int:
    """The line, from 1, on which `text` stands in a file of the problem."""
    lines = problem.contents[file].decode().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def oracle_check(result: Result, index: int = 0) -> CheckResult:
    """A check of T1."""
    return result.tiers[1].checks[index]
