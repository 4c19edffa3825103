"""What docs/authoring.md shows is tried: its commands, in their order, and its checks."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ((?:judge|pytest) .*)$", GUIDE, re.MULTILINE)
CHECKS, *_ = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
WORKFLOW, HOOK = map(
    yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
)
NAMES = """\
import pytest
import torch

from judge.checks import assert_array, assert_close, check, gradients

"""
PATIENCE_S = 120.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A shell in an empty bank, in which `judge` and `pytest` are these ones."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("judge", "pytest"):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m {name} "$@"\n')
        tool.chmod(0o755)
    (tmp_path / "problems").mkdir()
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {
        **own,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "JUDGE_PROBLEMS": str(tmp_path / "problems"),
        "JUDGE_SANDBOX": "bwrap",
    }


def shell(command: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def preview(command: str, folder: Path, environment: dict[str, str]) -> None:
    """A server is started, asked for the exercise, and ended."""
    log = folder / "preview.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command} --port 0"], cwd=folder, env=environment, stdout=file,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        page = httpx.get(f"{found[0]}/api/problems/soft-maximum", timeout=30)
        assert page.json()["title"] == "Soft maximum"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def test_the_commands_of_the_guide_work(tmp_path: Path, environment: dict[str, str]) -> None:
    words = [command.split()[1] for command in COMMANDS]
    assert words[:4] == ["new", "dev", "run", "verify"]
    for command in COMMANDS:
        if command.startswith("judge dev"):
            preview(command, tmp_path, environment)
        else:
            shell(command, tmp_path, environment)
    assert {"index.html", "soft-maximum.html"} & {
        each.name for each in (tmp_path / "proof").iterdir()
    }
    assert b'failures="0"' in (tmp_path / "proof.xml").read_bytes()


def test_the_checks_of_the_guide_accept_what_is_right(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    shell(COMMANDS[0], tmp_path, environment)
    folder = tmp_path / "problems" / "soft-maximum"
    kinds = set(re.findall(r'kind="(\w+)"', CHECKS))
    assert len(kinds) == CHECKS.count("@check(") == 11
    path = folder / "checks" / "test_t2_edges.py"
    path.write_text(NAMES + CHECKS)
    manifest = folder / "problem.toml"
    gone = re.compile(r"^\[\[takeaways\]\]\n(?:.+\n)*", re.MULTILINE)
    manifest.write_text(gone.sub("", manifest.read_text()))
    shell(f"judge run soft-maximum {folder}/reference.py --seed 1", tmp_path, environment)
    wrong = folder / "submissions/rejected/T1/largest.py"
    shutil.copy(wrong, tmp_path / "largest.py")
    refused = "judge run soft-maximum largest.py --seed 1"
    shell(f"{refused} > out.txt; test $? = 1", tmp_path, environment)


def test_what_ci_runs_are_commands_of_ours() -> None:
    steps = WORKFLOW["jobs"]["prove"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert [run for run in runs if run.startswith("judge ")] == [
        "judge verify --junit proof.xml --html proof"
    ]
    (hook,) = HOOK["repos"][0]["hooks"]
    assert hook["entry"] == "judge verify"
    assert not hook["pass_filenames"]
