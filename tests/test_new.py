from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from judge.cli import app
from judge.judging import Judge
from judge.problem import load_problem
from judge.proof.outcomes import CaseKind
from judge.proof.prover import Prover
from judge.templates.writing import TEMPLATES, Card, Template, files_of, write_files
from sandbox.archive import archive

ROOT = Path(__file__).parent.parent
ANSWER_S = 60.0


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of exercises, which the command finds."""
    folder = tmp_path / "problems"
    folder.mkdir()
    monkeypatch.setenv("JUDGE_PROBLEMS", str(folder))
    return folder


def new(*arguments: object) -> Result:
    """Runs `judge new` in a pipe, with the `bank` that the environment names."""
    return CliRunner().invoke(app, ["new", *map(str, arguments)])


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("template", Template)
def test_every_kind_is_a_valid_folder_under_the_name_that_was_chosen(
    bank: Path, template: Template
) -> None:
    written = new("my-own", "--kind", template, "--title", "My own", "--track", "mine")
    assert written.exit_code == 0
    manifest = load_problem(bank / "my-own").manifest
    assert (manifest.id, manifest.title, manifest.track) == ("my-own", "My own", "mine")
    assert (manifest.tests is not None) == (template is Template.TESTS)


@pytest.mark.parametrize("template", Template)
def test_every_kind_shows_all_that_an_exercise_is_made_of(bank: Path, template: Template) -> None:
    write_files(bank / "my-own", files_of(template, Card("my-own", "My own", "mine")))
    problem = load_problem(bank / "my-own")
    assert len(problem.mutants) >= 5
    assert sum(mutant.pitfall for mutant in problem.mutants) >= 3
    assert len(problem.accepted) >= 3
    assert {kept.tier for kept in problem.rejected} >= {"T0", "T1", "T2"}
    assert [tier.id for tier in problem.tiers] == ["T0", "T1", "T2", "T3"]
    assert {"editorial.md", "contract.pyi", "checks/oracle.py"} <= set(problem.contents)
    assert b"{{" not in problem.contents["problem.toml"]


def test_a_pipe_is_asked_nothing(bank: Path) -> None:
    assert new("soft-maximum").exit_code == 0
    manifest = load_problem(bank / "soft-maximum").manifest
    assert (manifest.title, manifest.track) == ("Soft maximum", "drafts")
    assert manifest.entry_points == ("log_sum_exp",)


def test_the_next_number_of_the_track_is_taken(bank: Path) -> None:
    for slug, track in (("one", "mine"), ("two", "mine"), ("other", "yours")):
        assert new(slug, "--track", track).exit_code == 0
    (bank / "broken").mkdir()
    (bank / "broken" / "problem.toml").write_text("number =")
    assert new("three", "--track", "mine").exit_code == 0
    numbers = {
        slug: load_problem(bank / slug).manifest.number for slug in ("two", "other", "three")
    }
    assert numbers == {"two": 2, "other": 1, "three": 3}


def test_any_line_of_text_can_be_a_title(bank: Path) -> None:
    title = 'Größe \\ "zwei" — {{slug}}'
    assert new("size", "--title", title).exit_code == 0
    assert load_problem(bank / "size").manifest.title == title


def test_the_files_and_what_to_do_next_are_told(bank: Path) -> None:
    told = new("my-own", "--kind", "tests").stdout
    for path in files_in(bank / "my-own"):
        if path.is_file():
            assert path.name in told
    assert "judge dev my-own\n" in told
    assert "judge verify my-own\n" in told
    assert f"judge run my-own {bank / 'my-own' / 'submissions/accepted'}/" in told
    assert "JUDGE_PROBLEMS" not in told


def test_another_folder_of_exercises_is_told_to_be_named(bank: Path, tmp_path: Path) -> None:
    told = new("my-own", "--into", tmp_path / "deep" / "down").stdout
    assert load_problem(tmp_path / "deep" / "down" / "my-own").slug == "my-own"
    assert f"export JUDGE_PROBLEMS={tmp_path / 'deep' / 'down'}\n" in told
    assert files_in(bank) == []


# --- what is asked --------------------------------------------------------------------------------


def test_a_terminal_is_asked_for_kind_and_title(bank: Path) -> None:
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-m", "judge", "new", "my-own"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        assert "a numpy function" in _shown_until(ours, "What do students write?")
        os.write(ours, b"arrows\n")
        _shown_until(ours, "write one of: function, module, arrays, tests")
        _shown_until(ours, "What do students write?")
        os.write(ours, b"arrays\n")
        _shown_until(ours, "[My own]")
        os.write(ours, b"Angles\n")
        _shown_until(ours, "judge verify my-own")
        assert command.wait(ANSWER_S) == 0
    finally:
        command.kill()
        command.wait()
        os.close(ours)
    manifest = load_problem(bank / "my-own").manifest
    assert (manifest.title, manifest.entry_points) == ("Angles", ("cosine_similarity",))


def _shown_until(terminal: int, words: str) -> str:
    """What the terminal shows, up to `words`."""
    shown, deadline = "", time.monotonic() + ANSWER_S
    while words not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"{words!r} is not shown, but: {shown}"
        shown += os.read(terminal, 1).decode(errors="replace")
    return shown


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["My_Own"], "write lower-case letters, digits and single hyphens"),
        (["a/b"], "write lower-case letters"),
        (["..", "--title", "Up"], "write lower-case letters"),
        (["x" * 81], "80 at most"),
        (["my-own", "--track", "No Track"], "The track cannot be called 'No Track'"),
        (["my-own", "--title", "  "], "write one line of text"),
        (["my-own", "--title", "two\nlines"], "write one line of text"),
        (["packages"], "is the folder of packages: choose another name"),
        (["taken"], "exists: choose another name, or remove it"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    bank: Path, arguments: list[str], words: str
) -> None:
    (bank / "taken").mkdir()
    refused = new(*arguments)
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert files_in(bank) == [bank / "taken"]


def test_the_folder_of_an_installed_package_is_refused(tmp_path: Path) -> None:
    installed = tmp_path / "lib" / "site-packages" / "judge_problems"
    installed.mkdir(parents=True)
    refused = new("my-own", "--into", installed)
    assert refused.exit_code == 2
    assert "Name a folder of your own with --into or JUDGE_PROBLEMS" in refused.stderr
    assert files_in(installed) == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    refused = new("my-own", "--into", tmp_path / "file")
    assert refused.exit_code == 2
    assert "cannot be written: Not a directory" in refused.stderr


def test_what_could_not_be_written_as_a_whole_is_taken_away(bank: Path) -> None:
    files = {"a.py": b"", "a.py/b.py": b""}  # the second cannot be: its folder is a file
    with pytest.raises(OSError, match=r"a\.py"):
        write_files(bank / "my-own", files)
    assert files_in(bank) == []


# --- the templates themselves ---------------------------------------------------------------------


def test_templates_do_not_travel_into_boxes() -> None:
    names = zipfile.ZipFile(BytesIO(archive(("sandbox", "judge")))).namelist()
    own = {path.name for path in TEMPLATES.glob("*.py")}
    assert {name for name in names if "/templates/" in name} == {
        f"judge/templates/{name}" for name in own
    }


def test_templates_are_written_as_our_own_code_is(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for template in Template:
        files = files_of(template, Card(template, "A title", "a-track"))
        write_files(tmp_path / "problems" / template, files)
    for arguments in (["check", "--no-cache"], ["format", "--no-cache", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *arguments, "."]
        done = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


# In one sandbox, and on few seeds: what differs between the two is seen on the bank.
@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
@pytest.mark.parametrize("template", Template)
def test_every_kind_is_proven_as_it_stands(
    warm_judge: Judge, bank: Path, template: Template
) -> None:
    write_files(bank / "my-own", files_of(template, Card("my-own", "My own", "mine")))
    proof = Prover(warm_judge, seeds=2).prove(load_problem(bank / "my-own"))
    assert [str(finding) for finding in proof.findings if not finding.advice] == []
    assert proof.proven
    assert proof.survivors == []
    kinds = {case.kind for case in proof.cases if not case.skipped}
    assert kinds >= set(CaseKind) - {CaseKind.SUITE, CaseKind.FOLDER}
    assert (CaseKind.SUITE in kinds) == (template is Template.TESTS)
