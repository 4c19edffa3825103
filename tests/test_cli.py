from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

from judge import cli
from judge.commands.terminal import console
from judge.doctor import BoxFinding, ProblemFinding, healthy
from sandbox.boxes import Launcher
from sandbox.choose import SandboxName
from sandbox.survey import State
from tests.commands import Ended, run_judge
from tests.small_problem import FILES, MANIFEST, write_problem

ROOT = Path(__file__).parent.parent
RIGHT = FILES["submissions/accepted/sum.py"]
WRONG = "def double(x):\n    print('[red]hello[/red]')\n    return 2 * x + (x == x.max())\n"


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line, in a folder of its own, with the small problem as the only one."""
    write_problem(tmp_path / "problems")
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path / "problems"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ended:
        return run_judge(capsys, *arguments)

    return run


def unreadable(path: Path) -> Path:
    """Make a file that nobody can read, not even root: its first byte is not mapped."""
    path.symlink_to("/proc/self/mem")
    return path


# --- without a sandbox ----------------------------------------------------------------------------


def test_the_version_is_printed(run: Run) -> None:
    ended = run("--version")
    assert ended.status == 0
    assert ended.out.startswith("judge ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "double"],
        ["run", "double", "x.py", "--seed", "-1"],
        ["run", "double", "x.py", "--sandbox", "chroot"],
        ["no-such-command"],
    ],
)
def test_a_wrong_call_is_a_usage_error(run: Run, arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.status == 2
    assert ended.err


def test_an_unknown_problem_is_a_usage_error_that_names_close_ones(run: Run) -> None:
    ended = run("run", "dubble", "x.py")
    assert (ended.status, ended.out) == (2, "")
    assert "no problem 'dubble'" in ended.err
    assert "known: double" in ended.err


def test_a_path_that_is_not_there_is_a_usage_error_that_says_what_to_do(run: Run) -> None:
    ended = run("run", "double", "missing.py")
    assert (ended.status, ended.out) == (2, "")
    assert "missing.py: no such file or directory" in ended.err
    assert "Name a file that can be read, or a folder that holds solution.py" in ended.err


def test_a_folder_without_the_main_file_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "attempt").mkdir()
    ended = run("run", "double", "attempt")
    assert ended.status == 2
    assert "no solution.py in this folder" in ended.err


def test_a_file_that_cannot_be_imported_by_its_name_is_a_usage_error(
    run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "attempt"
    folder.mkdir()
    (folder / "solution.py").write_text(RIGHT)
    (folder / "my-helper.py").write_text("")
    ended = run("run", "double", "attempt")
    assert ended.status == 2
    assert "my-helper.py: this name cannot be imported" in ended.err


def test_every_path_that_cannot_be_read_is_named_and_nothing_is_judged(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "empty").mkdir()
    unreadable(tmp_path / "locked.py")
    ended = run("run", "double", "missing.py", "right.py", "empty", "locked.py", "--json")
    assert (ended.status, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["missing.py", "empty", "locked.py"]
    assert all(line.startswith("judge: ") and "solution.py" in line for line in lines)


def test_a_path_with_terminal_commands_in_it_is_shown_escaped(run: Run) -> None:
    assert "\x1b" not in run("run", "double", "\x1b[31mred.py").err


def test_a_broken_problem_is_the_judges_failure_with_file_and_line(
    run: Run, tmp_path: Path
) -> None:
    manifest = tmp_path / "problems" / "double" / "problem.toml"
    manifest.write_text(MANIFEST.replace("wall_s = 5.0", "wall_s = 0"))
    ended = run("run", "double", "x.py")
    line = manifest.read_text().splitlines().index("wall_s = 0") + 1
    assert ended.status == 3
    assert f"{manifest}:{line}: " in ended.err


def test_a_problem_with_a_link_to_what_is_not_its_own_is_the_judges_failure_with_the_file(
    run: Run, tmp_path: Path
) -> None:
    provided = tmp_path / "problems" / "double" / "provided.py"
    provided.symlink_to("/etc/hostname")
    ended = run("run", "double", "x.py")
    assert ended.status == 3
    assert f"{provided}:1: a link that leads out of the folder of all exercises" in ended.err


@pytest.mark.parametrize("command", [["run", "double", "x.py"], ["doctor"], ["sandbox", "build"]])
@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("JUDGE_SANDBOX", "foo", "input should be 'auto', 'docker' or 'bwrap', but it is 'foo'."),
        ("JUDGE_PIP_OPTIONS", "'x", 'no closing quotation, but it is "\'x".'),
    ],
)
def test_a_bad_setting_is_a_usage_error_that_names_it(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    variable: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv(variable, value)
    ended = run(*command)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == f"judge: {variable}: {words}\n"


def test_charts_without_their_optional_part_are_a_usage_error(run: Run) -> None:
    del run  # for its folder and problem
    program = (
        "import sys; sys.modules['vl_convert'] = None\n"
        "from judge.cli import main; main(sys.argv[1:])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "run", "double", "x.py", "--charts", "charts"],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ended.returncode == 2
    assert "pip install 'judge[charts]'" in ended.stderr


def test_a_folder_that_charts_cannot_be_written_to_is_refused_before_judging(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "taken").write_text("")
    ended = run("run", "double", "right.py", "--charts", "taken")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "judge: charts cannot be written to taken: it is not a folder. "
        "Name a folder that can be written to.\n"
    )


def test_a_path_that_is_no_regular_file_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    ended = run("run", "double", "pipe.py")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("judge: pipe.py: not a regular file. Name a file")


@pytest.mark.parametrize("name", ["paths", "charts"])
def test_typer_leaves_it_to_us_to_say_what_cannot_be_read(name: str) -> None:
    """Root may read everything, so how it is declared must do."""
    (declared,) = get_type_hints(cli.run, include_extras=True)[name].__metadata__
    assert declared.readable is False


def test_a_folder_without_a_manifest_is_said_to_be_no_problem(run: Run, tmp_path: Path) -> None:
    (tmp_path / "problems" / "begun").mkdir()
    ended = run("run", "begun", "x.py")
    assert ended.status == 2
    assert "begun is a folder without problem.toml" in ended.err


def test_what_an_encoding_does_not_have_is_shown_as_something_like_it(run: Run) -> None:
    del run  # for its folder and problem
    program = (
        "from judge.cli import main, show\nfrom judge.commands.terminal import console\n"
        "from rich.text import Text\n"
        "try: main(['--version'])\n"
        "except SystemExit: show(console(stderr=False), Text('✓ AC – ✗ WA 数'))\n"  # noqa: RUF001 - the dash is one of them
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ended.stdout.splitlines()[1:] == [b"+ AC - x WA ?"]


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("", 120), ("wide", 120), ("0", 120)])
def test_a_pipe_is_as_wide_as_columns_says(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    columns: str,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    console(stderr=False).print("x" * 200)
    assert len(capsys.readouterr().out.splitlines()[0]) == width


def test_the_demo_does_not_claim_charts_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUDGE_SANDBOX", "bwrap")
    monkeypatch.setenv("JUDGE_BWRAP", str(tmp_path / "no-such-program"))
    ended = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "demo.py")],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode in (2, 3), ended.stdout + ended.stderr
    assert "The submissions are in demo." in ended.stdout
    assert "their charts" not in ended.stdout


# --- in a sandbox ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("lent_boxes")
def test_json_has_a_result_per_line_in_the_order_of_the_paths(
    run: Run, tmp_path: Path, launcher: Launcher
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "large.py").write_text("(" * 70_000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "solution.py").write_text("from parts import double\n")
    (tmp_path / "folder" / "parts.py").write_text(RIGHT)
    (tmp_path / "folder" / "notes.txt").write_text("")
    paths = ["wrong.py", "right.py", "large.py", "folder"]
    ended = run("run", "double", *paths, "--json", "--seed", 7, "--sandbox", launcher.name)
    assert [result.verdict for result in ended.results] == ["WA", "AC", "CE", "AC"]
    assert {result.seed for result in ended.results} == {7}
    assert {result.environment.sandbox.partition("/")[0] for result in ended.results} == {
        launcher.name
    }
    assert ended.status == 1
    assert "judge: folder: only the .py files in it are taken, not notes.txt\n" in ended.err


@pytest.mark.owns_engine
@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, "starting the sandbox"), (signal.SIGTERM, "T1")],
)
def test_a_signal_ends_the_run_in_one_line_and_leaves_no_box_behind(
    run: Run, tmp_path: Path, launcher: Launcher, number: signal.Signals, moment: str
) -> None:
    del run  # for its folder and problem
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "slow.py").write_text("def double(x):\n    while True: pass\n")
    command = [sys.executable, "-m", "judge", "run", "double", "right.py", "slow.py"]
    launcher.remove_orphans()
    # What this process ignores, as in the background of a script, its children ignore as well.
    handler_before = signal.signal(number, signal.default_int_handler)
    with subprocess.Popen(
        [*command, "--sandbox", launcher.name], text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:  # fmt: skip
        assert process.stderr
        assert any(moment in line for line in process.stderr)
        time.sleep(0.3)  # into the start of the boxes, or into the slow one
        process.send_signal(number)
        _, words = process.communicate(timeout=120)
    signal.signal(number, handler_before)
    assert process.returncode == 128 + number
    assert words == f"judge: stopped by {number.name}\n"
    assert launcher.remove_orphans() == 0


@pytest.mark.usefixtures("lent_boxes")
def test_the_report_names_check_error_and_a_replay_that_gives_the_same(
    run: Run, tmp_path: Path, launcher: Launcher
) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    first = run("run", "double", "wrong.py", "--sandbox", launcher.name)
    assert first.status == 1
    assert f"sandbox {launcher.name}: " in first.err
    assert "wrong.py: T1 Oracle: WA 0/1" in first.err
    for part in ["WA  wrong.py", "Every entry is doubled.", "largest error", "[red]hello[/red]"]:
        assert part in first.out
    assert "\x1b" not in first.out + first.err
    replay = next(line for line in first.out.splitlines() if "replay" in line)
    arguments = replay.partition("judge ")[2].split()
    again = run(*arguments, "--json", "--sandbox", launcher.name)
    (result,) = again.results
    detail = result.tiers[1].checks[0].detail
    assert detail is not None
    assert result.tiers[1].checks[0].message in " ".join(first.out.split())


def test_right_submissions_end_with_status_0_and_their_charts_are_written(
    tmp_path: Path, launcher: Launcher
) -> None:
    reference = ROOT / "problems" / "multi-head-attention" / "reference.py"
    arguments = ["run", "multi-head-attention", str(reference), "--charts", str(tmp_path)]
    ended = subprocess.run(
        [sys.executable, "-m", "judge", *arguments, "--sandbox", launcher.name],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    written = sorted(path.suffix for path in tmp_path.iterdir())
    assert written == [".png"] * 4 + [".svg"] * 4
    for path in tmp_path.iterdir():
        assert str(path) in ended.stdout


@pytest.mark.usefixtures("lent_boxes")
def test_checks_that_cannot_be_collected_are_the_judges_failure(
    run: Run, tmp_path: Path, launcher: Launcher
) -> None:
    checks = tmp_path / "problems" / "double" / "checks" / "test_t1_oracle.py"
    checks.write_text("import nothing_of_that_name\n\n\ndef test_values():\n    'Sentence.'\n")
    (tmp_path / "right.py").write_text(RIGHT)
    ended = run("run", "double", "right.py", "--json", "--sandbox", launcher.name)
    assert ended.status == 3
    assert "checks/test_t1_oracle.py:1" in ended.err + json.dumps(ended.out)


def test_the_doctor_tries_a_box_of_each_kind_and_says_which_mode_is_in_force(
    run: Run, launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {
        "docker": ("JUDGE_BWRAP", str(tmp_path / "none")),
        "bwrap": ("JUDGE_DOCKER_HOST", f"unix://{tmp_path}/none.sock"),
    }
    monkeypatch.setenv(*other[launcher.name])  # is missing, and costs no second box
    monkeypatch.setenv("JUDGE_SANDBOX", launcher.name)
    ended = run("doctor")
    assert ended.status == 0, ended.out
    boxes = dict(re.findall(r"(\w+) box  +(.*)", ended.out))
    assert list(boxes) == ["docker", "bwrap"]
    in_force = {
        name for name, said in boxes.items() if re.match(rf"{name}/(nested|single): ", said)
    }
    assert in_force == {launcher.name}
    assert "problem double valid" in " ".join(ended.out.split())


def test_the_doctor_says_what_is_missing_and_how_to_get_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_SANDBOX", "docker")
    monkeypatch.setenv("JUDGE_DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("JUDGE_BWRAP", str(tmp_path / "none"))
    (tmp_path / "problems" / "double" / "statement.md").unlink()
    ended = run("doctor")
    assert ended.status == 3
    words = " ".join(ended.out.split())
    assert "no Docker engine answers" in words
    assert "Start Docker" in words
    assert "the file is missing" in words


@pytest.mark.parametrize(("chosen", "well"), [("docker", False), ("bwrap", True), ("auto", True)])
def test_the_doctor_is_content_with_the_sandbox_that_was_chosen(
    chosen: SandboxName, well: bool
) -> None:
    problem = ProblemFinding("problem double", State.OK, "valid")
    found = [
        problem,
        BoxFinding("docker box", State.MISSING, "no engine", sandbox="docker"),
        BoxFinding("bwrap box", State.DEGRADED, "bwrap/single", sandbox="bwrap"),
    ]
    assert healthy(found, chosen) is well
    broken = replace(problem, state=State.MISSING)
    assert not healthy([broken, *found], chosen)
