"""What may be wrong with the parts of a folder that only some exercises have."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.manifest import ProblemError
from judge.problem import load_problem
from tests.chapters import PLANE, STACK, chapter
from tests.small_problem import MANIFEST, MUTANTS, write_problem

TESTS_FILE = '[[files]]\nname = "tests/test_own.py"\nrole = "tests"\nstarter = "starter.py"\n'
TESTS_TABLE = '[tests]\nimports = ["numpy"]\nthreshold = 0.8\n'
GRADED = MUTANTS.replace("pitfall = true\n", "pitfall = true\ngraded = true\n")
TAKEAWAY = '[[takeaways]]\ntext = "So it is."\nchecks = ["{}"]\n'
RULE = '[[forbidden]]\nname = "{}"\nrule = "Not this."\n'
WRONG = {
    "tests-without-a-table": (TESTS_FILE, GRADED, "a file of role tests and a table [tests]"),
    "a-table-without-tests": (TESTS_TABLE, GRADED, "a file of role tests and a table [tests]"),
    "nothing-that-grades": (TESTS_FILE + TESTS_TABLE, MUTANTS, "no mutant grades the tests"),
    "an-unknown-mutant": (
        TESTS_FILE + TESTS_TABLE + 'must_kill = ["halved"]\n', GRADED,
        "'halved' is no graded mutant",
    ),
    "tests-elsewhere": (
        TESTS_FILE.replace("tests/test_own.py", "own.py") + TESTS_TABLE, GRADED,
        "own.py has the role tests",
    ),
    "a-solution-among-tests": (
        TESTS_FILE.replace('role = "tests"', 'role = "solution"'), MUTANTS,
        "tests/test_own.py has the role solution",
    ),
    "a-path-out-of-the-folder": (
        TESTS_FILE.replace("tests/test_own", "tests/../test_own") + TESTS_TABLE, GRADED,
        "which has a form that is not allowed",
    ),
    "an-unknown-check": (
        TAKEAWAY.format("test_t1_oracle::test_value"), MUTANTS,
        "there is no check 'test_t1_oracle::test_value'",
    ),
    "a-name-without-a-module": (RULE.format("softmax"), MUTANTS, "a form that is not allowed"),
    "a-threshold-above-one": (
        TESTS_FILE + TESTS_TABLE.replace("0.8", "80"), GRADED, "less than or equal to 1",
    ),
}  # fmt: skip


def faults_of(folder: Path) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        load_problem(folder)
    return [f"{fault.line}: {fault.message}" for fault in caught.value.faults]


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_together_is_reported_once_with_its_line(
    tmp_path: Path, case: str
) -> None:
    added, mutants, words = WRONG[case]
    manifest = f"{MANIFEST}\n{added}"
    faults = faults_of(write_problem(tmp_path, problem_toml=manifest, mutants_toml=mutants))
    assert len(faults) == 1
    assert words in faults[0]
    assert int(faults[0].partition(":")[0]) > MANIFEST.count("\n") or "[tests]" in words


def test_right_tables_are_taken(tmp_path: Path) -> None:
    added = TESTS_FILE + TAKEAWAY.format("test_t1_oracle::test_values") + RULE.format("torch.trace")
    manifest = f"{MANIFEST}\n{added}\n{TESTS_TABLE}"
    folder = write_problem(tmp_path, problem_toml=manifest, mutants_toml=GRADED)
    problem = load_problem(folder)
    assert problem.takes_tests
    assert problem.file_names == ("solution.py",)
    assert problem.must_kill == ("tripled",)
    assert [entry.rule for entry in problem.setting.forbidden] == ["Not this."]


def test_a_package_that_is_not_there_is_reported(tmp_path: Path) -> None:
    folder = chapter(tmp_path, "plane", PLANE, "2 * values").folder
    (tmp_path / "packages/shelf/__init__.py").unlink()
    assert "there is no package 'shelf' beside the exercises" in "".join(faults_of(folder))


def test_a_module_outside_of_all_packages_is_reported(tmp_path: Path) -> None:
    folder = chapter(tmp_path, "plane", PLANE, "2 * values").folder
    manifest = folder / "problem.toml"
    text = manifest.read_text(encoding="utf-8").replace("shelf.made.plane", "shelf.lost.plane")
    manifest.write_text(text, encoding="utf-8")
    assert "shelf.lost.plane has no package to be in" in "".join(faults_of(folder))


def test_a_version_names_what_it_takes_from_its_neighbours(tmp_path: Path) -> None:
    chapter(tmp_path, "plane", PLANE, "2 * values")
    source = STACK.format(need="plane", name="stack")
    stack = chapter(tmp_path, "stack", source, "2 * values + 1", needs='needs = ["plane"]')
    assert stack.needed_modules == {"shelf/made/plane.py": PLANE.encode()}
    assert "shelf/boards.py" in stack.setting.library
    for changed in ("plane/reference.py", "packages/shelf/boards.py"):
        before = load_problem(stack.folder).version
        path = tmp_path / changed
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert load_problem(stack.folder).version != before


def test_what_no_import_leads_to_is_reported_and_hidden_files_do_not_count(tmp_path: Path) -> None:
    folder = chapter(tmp_path, "plane", PLANE, "2 * values").folder
    shelf = tmp_path / "packages/shelf"
    (shelf / ".#boards.py").symlink_to("nowhere")
    (shelf / ".cache").mkdir()
    (shelf / ".cache/old-boards.py").write_text("", encoding="utf-8")
    load_problem(folder)
    (shelf / "old-boards.py").write_text("", encoding="utf-8")
    assert "no import leads to a file of this name" in "".join(faults_of(folder))


def test_a_module_that_the_package_has_already_is_reported(tmp_path: Path) -> None:
    folder = chapter(tmp_path, "plane", PLANE, "2 * values").folder
    (tmp_path / "packages/shelf/made/plane.py").write_text(PLANE, encoding="utf-8")
    assert "shelf.made.plane is in the package already" in "".join(faults_of(folder))


def test_a_package_that_is_too_large_to_travel_is_reported(tmp_path: Path) -> None:
    folder = chapter(tmp_path, "plane", PLANE, "2 * values").folder
    (tmp_path / "packages/shelf/large.py").write_text("#" * (1 << 20), encoding="utf-8")
    assert "the packages have more than 512 KiB" in "".join(faults_of(folder))
