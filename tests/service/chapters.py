"""Exercises that build on one another, and take tests: a bank of two, made from the small problem.

`double` is `pack.double` in the package `pack`, and `quadruple`, which needs it, is
`pack.quadruple` and takes tests.
"""

from __future__ import annotations

from pathlib import Path

from judge.results import CheckResult, Mutation, Result, TierResult
from judge.service.records import Claim
from judge.verdicts import Verdict
from tests.service.serving import Maker, chart, judged
from tests.small_problem import FILES, MANIFEST

PLACE = "pack/double.py"
TESTS = {"tests/test_own.py": "def test_it():\n    pass\n"}
COURSE = """
[course]
module = "L1.1"
kind = "build"
pass = 1
hours = "1 h"
rung = "R1"
builds = "pack/double.py"
contract = "pack/double.pyi"
course_tests = "test_double.py"
"""
OWN_TESTS = """
[[files]]
name = "tests/test_own.py"
role = "tests"
starter = "test_starter.py"

[tests]
imports = ["pack.quadruple", "pytest"]
threshold = 0.5
"""

EXAMPLE = """
[[examples]]
title = "One"
code = "quadruple(1)"
output = "4"
reasoning = "As $2+2$."
"""


def write_chapters(root: Path, course: str = COURSE) -> None:
    """Write both into `root`, with the package."""
    package = root / "packages" / "pack"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text('"""A package."""\n')
    (package / "given.py").write_text("def given(x: int) -> str:\n    return str(x)\n")
    write_exercise(root, "double", 'packages = ["pack"]', course)
    needing = 'packages = ["pack"]\nneeds = ["double"]'
    write_exercise(root, "quadruple", needing, OWN_TESTS)
    folder = root / "quadruple"
    (folder / "test_starter.py").write_text("# Write your tests here.\n")
    mutants = (folder / "mutants.toml").read_text()
    (folder / "mutants.toml").write_text(mutants.replace("symptom", "graded = true\nsymptom"))
    with (folder / "problem.toml").open("a") as manifest:
        manifest.write(EXAMPLE)


def write_exercise(root: Path, slug: str, keys: str, tables: str = "") -> None:
    """Write one whose main file is a module of the package; `keys` and `tables` are added."""
    manifest = MANIFEST.replace('id = "double"', f'id = "{slug}"')
    manifest = manifest.replace('tags = ["torch"]', keys)
    manifest = manifest.replace(
        'name = "solution.py"', f'name = "solution.py"\nmodule = "pack.{slug}"'
    )
    for name, text in FILES.items():
        path = root / slug / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(manifest + tables if name == "problem.toml" else text)


def graded(claim: Claim, verdict: Verdict = Verdict.AC) -> Result:
    """The result of tests: two of them, on two mutants, with a chart."""
    checks = [
        CheckResult(id=name, title=name, kind="own", why="", verdict=verdict)
        for name in ("test_own::test_a", "test_own::test_b")
    ]
    tiers = [
        TierResult(
            id="tests", title="Your tests", verdict=verdict, passed=2, total=2, checks=checks
        ),
        *(
            TierResult(id=name, title=name, verdict=Verdict.SK, passed=0, total=0, checks=[])
            for name in ("T0", "T1")
        ),
    ]
    mutation = Mutation(
        score=0.5,
        threshold=0.5,
        tests=[check.id for check in checks],
        mutants=["tripled", "halved"],
        matrix=[[True, False], [True, False]],
        survivors=["halved"],
        must_kill=["tripled"],
        symptoms={"halved": "A quarter."},
        titles={"tripled": "Tripled"},
    )
    drawn = chart("mutants").model_copy(update={"tier": "tests"})
    return judged(claim, verdict, charts=[drawn]).model_copy(
        update={"tiers": tiers, "mutation": mutation}
    )


def grading(verdict: Verdict) -> Maker:
    """Gives tests this verdict."""
    return lambda claim: graded(claim, verdict)
