from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.boxes import Launcher
from tests.small_problem import MANIFEST, write_problem

ROOT = Path(__file__).parent.parent
STAND_IN = ("-p", "tests.proof.stand_in")
WRONG = "def double(x):\n    return 3 * x\n"


def pytest_on(
    folder: Path, *arguments: str, environment: pytest.MonkeyPatch
) -> subprocess.CompletedProcess[str]:
    environment.setenv("PYTHONPATH", str(ROOT))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", str(folder), "-p", "no:cacheprovider", *arguments],
        cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_problem_is_judged_check_by_check(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_problem(tmp_path)
    ended = pytest_on(folder, "--no-proof", "--sandbox", launcher.name, environment=monkeypatch)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "double::T0::" in ended.stdout
    assert "test_values PASSED" in ended.stdout
    assert "2 passed" in ended.stdout
    assert "proof" not in ended.stdout


def test_a_problem_is_proven_case_by_case(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = pytest_on(
        write_problem(tmp_path), *STAND_IN, "--seeds", "7", "--sandbox", launcher.name,
        environment=monkeypatch,
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


def test_a_single_case_can_be_chosen(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = pytest_on(
        write_problem(tmp_path), *STAND_IN, "--seeds", "7", "-k", "reference and accepted",
        "--sandbox", launcher.name, environment=monkeypatch,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed, 5 deselected" in ended.stdout


@pytest.mark.parametrize("seeds", ["0", "some"])
def test_seeds_are_a_number_above_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: str
) -> None:
    ended = pytest_on(write_problem(tmp_path), "--seeds", seeds, environment=monkeypatch)
    assert ended.returncode == 4
    assert "--seeds" in ended.stderr


def test_a_wrong_submission_fails_in_the_items_of_its_checks(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_problem(tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    ended = pytest_on(
        folder, *STAND_IN, "--submission", "wrong.py", "--sandbox", launcher.name,
        environment=monkeypatch,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "1 failed, 1 passed" in ended.stdout
    assert "the factor is three" in ended.stdout
    assert "Traceback" not in ended.stdout


def test_a_broken_problem_is_a_collection_error_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_problem(tmp_path, problem_toml=MANIFEST.replace("wall_s = 5.0", "wall_s = 0"))
    ended = pytest_on(folder, environment=monkeypatch)
    assert ended.returncode == 2
    line = MANIFEST.splitlines().index("wall_s = 5.0") + 1
    assert f"{folder / 'problem.toml'}:{line}: " in ended.stdout
    assert "Traceback" not in ended.stdout


def test_a_bad_setting_is_a_collection_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_SANDBOX", "foo")
    ended = pytest_on(write_problem(tmp_path), environment=monkeypatch)
    assert ended.returncode == 2
    assert "JUDGE_SANDBOX: input should be" in ended.stdout
    assert "Traceback" not in ended.stdout
