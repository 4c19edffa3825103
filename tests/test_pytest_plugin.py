from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.boxes import Launcher
from tests.small_problem import MANIFEST, write_problem

ROOT = Path(__file__).parent.parent
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
    ended = pytest_on(folder, "--sandbox", launcher.name, environment=monkeypatch)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "double::T0::" in ended.stdout
    assert "test_values PASSED" in ended.stdout
    assert "2 passed" in ended.stdout


def test_a_wrong_submission_fails_in_the_items_of_its_checks(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_problem(tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    ended = pytest_on(
        folder, "--submission", "wrong.py", "--sandbox", launcher.name, environment=monkeypatch
    )
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
    assert f"{folder / 'problem.toml'}:10: " in ended.stdout
    assert "Traceback" not in ended.stdout


def test_a_bad_setting_is_a_collection_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_SANDBOX", "foo")
    ended = pytest_on(write_problem(tmp_path), environment=monkeypatch)
    assert ended.returncode == 2
    assert "JUDGE_SANDBOX: input should be" in ended.stdout
    assert "Traceback" not in ended.stdout
