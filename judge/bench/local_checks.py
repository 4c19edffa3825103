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
from judge.problem import load_problem

SEED = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name the files."""
    group = parser.getgroup("bench", "checks on a file in this process")
    group.addoption("--solution", type=Path, metavar="FILE", help="what is checked")


def pytest_configure(config: pytest.Config) -> None:
    """Load the submission to the problem in the root folder, and give it to the checks."""
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures)
    solution: Path = config.getoption("--solution")
    setting = load_problem(config.rootpath).setting
    submission = LocalSubmission.from_sources({setting.main: solution.read_bytes()}, setting)
    config.stash[CURRENT] = Judging(submission, SEED, Charts())
