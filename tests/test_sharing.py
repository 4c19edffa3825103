from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharing import LONGEST_FIRST, SANDBOXES, TOGETHER, group_of

ROOT = Path(__file__).parents[1]
NOTES_ITS_PROCESS = """
import os
from pathlib import Path
import pytest

@pytest.mark.parametrize("sandbox", ["docker", "bwrap"])
@pytest.mark.parametrize("number", range(4))
def test_in_a_sandbox(sandbox, number):
    note(sandbox)

@pytest.mark.parametrize("number", range(4))
def test_in_a_module(number):
    note(Path(__file__).stem)

def note(group):
    with Path(os.environ["NOTES"]).open("a") as notes:
        notes.write(group + " " + os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/sandbox/test_a.py::test_it[docker]", "docker"),
        ("tests/judging/test_a.py::test_it[docker-3-reference]", "docker"),
        ("tests/sandbox/test_a.py::test_it[bwrap-groups]", "bwrap"),
        ("tests/sandbox/test_a.py::test_docker", "tests/sandbox/test_a.py"),
        ("tests/test_a.py::test_it[dockerless]", "tests/test_a.py"),
        ("tests/browser/test_a.py::test_it[desk-/]", "tests/browser"),
        ("tests/browser/test_b.py::test_it", "tests/browser"),
    ],
)
def test_a_test_belongs_to_its_sandbox_or_module(test: str, group: str) -> None:
    assert group_of(test) == group


def test_what_takes_long_is_named_as_it_is_called() -> None:
    for group in {*LONGEST_FIRST, *TOGETHER} - set(SANDBOXES):
        assert (ROOT / group).exists(), group


def test_a_group_stays_in_one_process(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(NOTES_ITS_PROCESS)
    notes = tmp_path / "notes"
    plugins = ["-p", "xdist", "-p", "tests.sharing"]  # no others: some take long to import
    options = [*plugins, "--numprocesses", "2", "-c", os.devnull, "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=ROOT, env=os.environ | {"NOTES": str(notes), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    noted = [line.split() for line in notes.read_text().splitlines()]
    assert len(noted) == 24
    processes = {group: {who for name, who in noted if name == group} for group, _who in noted}
    assert set(processes) == {"docker", "bwrap", "test_a", "test_b"}
    assert all(len(who) == 1 for who in processes.values()), processes
