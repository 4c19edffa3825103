"""The pytest plugin that gives checks their three fixtures; load it with ``-p``."""

from __future__ import annotations

import pytest

from judge.checks.charts import Charts
from judge.checks.current import CURRENT, Judging
from judge.checks.marks import MARK, check_id
from judge.checks.rng import Rng
from judge.checks.submission import Submission


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known to pytest."""
    config.addinivalue_line("markers", f"{MARK}(kind, why): a check of a problem")


@pytest.fixture
def submission(request: pytest.FixtureRequest) -> Submission:
    """The code under judgement."""
    return _judging(request).submission


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Rng:
    """Inputs from the submission's seed and this check's name; the same on every replay."""
    return Rng(_judging(request).seed, check_id(request.node))


@pytest.fixture
def charts(request: pytest.FixtureRequest) -> Charts:
    """Where an experiment records what it found."""
    return _judging(request).charts


def _judging(request: pytest.FixtureRequest) -> Judging:
    return request.config.stash[CURRENT]
