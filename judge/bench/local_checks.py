"""A pytest plugin that runs a problem's checks on a file in the same process, as most graders do.

Load it with `-p judge.bench.local_checks`, in a container or on any machine with torch and pytest.
It confines nothing and is for files of ours only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.checks import fixtures
from judge.checks.charts import Charts
from judge.checks.current import CURRENT, Judging
from judge.checks.local import LocalSubmission

MAIN = "solution.py"
SEED = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name the files."""
    group = parser.getgroup("bench", "checks on a file in this process")
    group.addoption("--solution", type=Path, metavar="FILE", help="what is checked")
    group.addoption("--provided", type=Path, metavar="FILE", help="what it may import, if any")


def pytest_configure(config: pytest.Config) -> None:
    """Load the submission and give it to the fixtures of the checks."""
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures)
    solution: Path = config.getoption("--solution")
    provided: Path | None = config.getoption("--provided")
    submission = LocalSubmission.from_sources(
        {MAIN: solution.read_bytes()}, MAIN, provided.read_bytes() if provided else None
    )
    config.stash[CURRENT] = Judging(submission, SEED, Charts())
