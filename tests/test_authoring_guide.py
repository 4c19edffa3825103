"""What docs/authoring.md shows is tried: its commands, in their order, and its checks."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import httpx
import pytest
import yaml

from tests.commands import status_of

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ((?:judge|pytest) .*)$", GUIDE, re.MULTILINE)
CHECKS, *_ = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
WORKFLOW, HOOK = map(
    yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
)
(SHOWN_TIER,) = re.findall(r"^    \[\[tiers\]\]\n(?:    .+\n)+", GUIDE, re.MULTILINE)
NAMES = """\
import pytest
import torch

from judge.checks import assert_array, assert_close, check, gradients

"""
PATIENCE_S = 120.0


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with an empty bank, and with `judge` and `pytest` that are these ones."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("judge", "pytest"):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m {name} "$@"\n')
        tool.chmod(0o755)
    (tmp_path / "problems").mkdir()
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path / "problems"))
    monkeypatch.setenv("JUDGE_SANDBOX", "bwrap")
    monkeypatch.setenv("JUDGE_SLOTS", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_a_shell(command: str) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        ["bash", "-c", command], env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def in_this_process(command: str) -> int:
    """The status of a command that judges in boxes that are warm."""
    name, *arguments = shlex.split(command)
    if name == "pytest":
        return int(pytest.main([*arguments, "-p", "no:cacheprovider", "-p", "no:faulthandler"]))
    assert name == "judge"
    return status_of(*arguments)


def preview(command: str, log: Path) -> None:
    """A server is started, asked for the exercise, and ended."""
    with log.open("w") as file:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command} --port 0"], stdout=file, stderr=subprocess.STDOUT
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        page = httpx.get(f"{found[0]}/api/problems/soft-maximum", timeout=PATIENCE_S)
        assert page.json()["title"] == "Soft maximum"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE_S)


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.usefixtures("lent_boxes")
def test_the_commands_of_the_guide_work(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [command.split()[1] for command in COMMANDS]
    assert words[:5] == ["new", "dev", "run", "verify", "verify"]
    new, dev, run, verify, report, *items = COMMANDS
    in_a_shell(new)
    preview(dev, bank / "preview.log")
    assert in_this_process(run) == 0
    with monkeypatch.context() as no_engine:  # the next one proves it in both sandboxes
        no_engine.setenv("JUDGE_DOCKER_HOST", f"unix://{bank}/none.sock")
        assert in_this_process(verify) == 0
    in_a_shell(report)
    assert {"index.html", "soft-maximum.html"} & {each.name for each in (bank / "proof").iterdir()}
    assert b'failures="0"' in (bank / "proof.xml").read_bytes()
    assert [command.split()[0] for command in items] == ["pytest"] * 3
    assert [in_this_process(command) for command in items] == [0, 0, 0]


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.usefixtures("lent_boxes")
def test_the_checks_of_the_guide_accept_what_is_right(bank: Path) -> None:
    assert in_this_process(COMMANDS[0]) == 0
    folder = bank / "problems" / "soft-maximum"
    kinds = set(re.findall(r'kind="(\w+)"', CHECKS))
    assert len(kinds) == CHECKS.count("@check(") == 11
    path = folder / "checks" / "test_t2_edges.py"
    path.write_text(NAMES + CHECKS)
    manifest = folder / "problem.toml"
    gone = re.compile(r"^\[\[takeaways\]\]\n(?:.+\n)*", re.MULTILINE)
    manifest.write_text(gone.sub("", manifest.read_text()))
    run = "judge run soft-maximum {} --seed 1"
    assert in_this_process(run.format(folder / "reference.py")) == 0
    assert in_this_process(run.format(folder / "submissions/rejected/T1/largest.py")) == 1


def test_the_tier_that_is_shown_is_the_one_of_the_exercise() -> None:
    (shown,) = tomllib.loads(SHOWN_TIER)["tiers"]
    manifest = tomllib.loads((ROOT / "problems/multi-head-attention/problem.toml").read_text())
    (tier,) = (each for each in manifest["tiers"] if each["id"] == shown["id"])
    assert shown == {**tier, "about": "..."}


def test_what_ci_runs_are_commands_of_ours() -> None:
    steps = WORKFLOW["jobs"]["prove"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert [run for run in runs if run.startswith("judge ")] == [
        "judge verify --junit proof.xml --html proof"
    ]
    (hook,) = HOOK["repos"][0]["hooks"]
    assert hook["entry"] == "judge verify"
    assert not hook["pass_filenames"]
