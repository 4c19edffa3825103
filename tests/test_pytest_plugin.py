from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.boxes import Launcher
from tests.commands import Ended
from tests.small_problem import MANIFEST, write_problem

ROOT = Path(__file__).parent.parent
STAND_IN = ("-p", "tests.proof.stand_in")
WRONG = "def double(x):\n    return 3 * x\n"


Run = Callable[..., Ended]


@pytest.fixture
def pytest_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a session of pytest on a folder, in this process, which has loaded the plugin."""
    monkeypatch.chdir(tmp_path)

    def run(folder: Path, *arguments: str) -> Ended:
        status = pytest.main(arguments_for(folder, "-p", "no:faulthandler", *arguments))
        shown = capsys.readouterr()
        return Ended(status, shown.out, shown.err)

    return run


def arguments_for(folder: Path, *arguments: str) -> list[str]:
    return ["-v", str(folder), "-p", "no:cacheprovider", *arguments]


# --- in a process of its own, which starts boxes --------------------------------------------------


def test_a_problem_is_proven_case_by_case(tmp_path: Path, launcher: Launcher) -> None:
    folder = write_problem(tmp_path)
    proving = arguments_for(folder, *STAND_IN, "--seeds", "7", "--sandbox", launcher.name)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *proving],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "JUDGE_SLOTS": "1"},
    )  # fmt: skip
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "double::T1::test_t1_oracle::test_values PASSED" in ended.stdout
    assert "double/proof/reference::accepted PASSED" in ended.stdout
    assert "double/proof/mutant::tripled FAILED" in ended.stdout
    assert "double/proof/mutant::halved PASSED" in ended.stdout
    assert "1 failed, 4 passed, 1 skipped" in ended.stdout
    # the finding, with what to do, and why a case was not tried
    assert (
        "test_t1_oracle.py:8: \\x1b[31mnot noticed on 7 seeds\n    lower rtol to 1e-9"
        in ended.stdout
    )
    assert "needs docker: none" in ended.stdout
    assert "Traceback" not in ended.stdout
    assert "\x1b" not in ended.stdout


# --- in this process, on warm boxes ---------------------------------------------------------------


@pytest.mark.usefixtures("lent_boxes")
def test_a_problem_is_judged_check_by_check(
    pytest_on: Run, tmp_path: Path, launcher: Launcher
) -> None:
    folder = write_problem(tmp_path)
    ended = pytest_on(folder, "--no-proof", "--sandbox", launcher.name)
    assert ended.status == 0, ended.out + ended.err
    assert "double::T0::" in ended.out
    assert "test_values PASSED" in ended.out
    assert "2 passed" in ended.out
    assert "proof" not in ended.out


@pytest.mark.usefixtures("lent_boxes")
def test_a_single_case_can_be_chosen(pytest_on: Run, tmp_path: Path, launcher: Launcher) -> None:
    ended = pytest_on(
        write_problem(tmp_path), *STAND_IN, "--seeds", "7", "-k", "reference and accepted",
        "--sandbox", launcher.name,
    )  # fmt: skip
    assert ended.status == 0, ended.out + ended.err
    assert "1 passed, 5 deselected" in ended.out


@pytest.mark.parametrize("seeds", ["0", "some"])
def test_seeds_are_a_number_above_zero(pytest_on: Run, tmp_path: Path, seeds: str) -> None:
    ended = pytest_on(write_problem(tmp_path), "--seeds", seeds)
    assert ended.status == 4
    assert "--seeds" in ended.err


@pytest.mark.usefixtures("lent_boxes")
def test_a_wrong_submission_fails_in_the_items_of_its_checks(
    pytest_on: Run, tmp_path: Path, launcher: Launcher
) -> None:
    folder = write_problem(tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    ended = pytest_on(
        folder, *STAND_IN, "--submission", "wrong.py", "--sandbox", launcher.name
    )  # fmt: skip
    assert ended.status == 1, ended.out + ended.err
    assert "1 failed, 1 passed" in ended.out
    assert "the factor is three" in ended.out
    assert "Traceback" not in ended.out


def test_a_broken_problem_is_a_collection_error_with_file_and_line(
    pytest_on: Run, tmp_path: Path
) -> None:
    folder = write_problem(tmp_path, problem_toml=MANIFEST.replace("wall_s = 5.0", "wall_s = 0"))
    ended = pytest_on(folder)
    assert ended.status == 2
    line = MANIFEST.splitlines().index("wall_s = 5.0") + 1
    assert f"{folder / 'problem.toml'}:{line}: " in ended.out
    assert "Traceback" not in ended.out


def test_a_bad_setting_is_a_collection_error_that_names_it(
    pytest_on: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_SANDBOX", "foo")
    ended = pytest_on(write_problem(tmp_path))
    assert ended.status == 2
    assert "JUDGE_SANDBOX: input should be" in ended.out
    assert "Traceback" not in ended.out
