"""Every command that docs/interchange.md shows is executed, in its order, as it stands there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import status_of
from tests.small_problem import write_problem

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "interchange.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (judge .*)$", GUIDE, re.MULTILINE)
SCRIPTS = re.findall(r"^```bash\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A shell in which `judge` is this one; the small problem stands for the guide's."""
    folder = write_problem(tmp_path / "problems")
    shutil.copy(folder / "reference.py", tmp_path / "solution.py")
    (tmp_path / "bin").mkdir()
    judge = tmp_path / "bin" / "judge"
    judge.write_text(f'#!/bin/sh\nexec {sys.executable} -m judge "$@"\n')
    judge.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{judge.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "JUDGE_PROBLEMS": str(folder.parent),
        "JUDGE_SANDBOX": "bwrap",
        "AUTOGRADER_ROOT": str(tmp_path / "autograder"),
    }


def shell(command: str, folder: Path, environment: dict[str, str]) -> None:
    small = command.replace("multi-head-attention", "double")
    done = subprocess.run(
        ["bash", "-c", small], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{small}\n{done.stdout}\n{done.stderr}"


def in_this_process(command: str) -> None:
    name, *arguments = shlex.split(command.replace("multi-head-attention", "double"))
    assert name == "judge"
    assert status_of(*arguments) == 0, command


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.usefixtures("lent_boxes")
def test_the_commands_of_the_guide_work(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("JUDGE_PROBLEMS", "JUDGE_SANDBOX"):
        monkeypatch.setenv(name, environment[name])
    assert len(COMMANDS) == 4
    for command in COMMANDS:
        if "--judge" in command:  # it has no other test in which it starts its boxes
            shell(command, tmp_path, environment)
        else:
            in_this_process(command)
    assert (tmp_path / "elsewhere/double/problem.toml").is_file()
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 100.0


@pytest.mark.parametrize(("source", "score"), [("return 2 * x", 100.0), ("return x", 50.0)])
def test_the_autograder_of_the_guide_works(
    tmp_path: Path, environment: dict[str, str], source: str, score: float
) -> None:
    (script,) = SCRIPTS
    for name in ("submission", "results"):
        (tmp_path / "autograder" / name).mkdir(parents=True)
    solution = tmp_path / "autograder/submission/solution.py"
    solution.write_text(f"def double(x):\n    {source}\n")
    shell(script, tmp_path, environment)
    results = json.loads((tmp_path / "autograder/results/results.json").read_text())
    assert results["score"] == score
