"""The pytest plugin that gives checks their three fixtures; load it with ``-p``.

`arguments_of` gives the same three values without pytest's machinery, to whoever runs many checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    return _judging(request.config).submission


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Rng:
    """Inputs from the submission's seed and this check's name; the same on every replay."""
    return _rng(request.node)


@pytest.fixture
def charts(request: pytest.FixtureRequest) -> Charts:
    """Where an experiment records what it found."""
    return _judging(request.config).charts


def arguments_of(item: pytest.Function) -> dict[str, Any] | None:
    """The values of a check's arguments, when it is a function that needs these fixtures alone.

    None when anything else has to be set up for it: other fixtures, also those it does not name,
    parameters, a class.
    """
    values: dict[str, Callable[[], object]] = {
        "submission": lambda: _judging(item.config).submission,
        "rng": lambda: _rng(item),
        "charts": lambda: _judging(item.config).charts,
    }
    names = item._fixtureinfo.argnames  # noqa: SLF001  # pytest has no other word for them
    if item.cls is not None or not values.keys() >= set(names) or not _needs_no_other(item):
        return None
    return {name: values[name]() for name in names}


def _needs_no_other(item: pytest.Function) -> bool:
    """Whether all its fixtures, at any remove, are those of this module."""
    definitions = item._fixtureinfo.name2fixturedefs.values()  # noqa: SLF001  # the same
    return all(each.func.__module__ == __name__ for same in definitions for each in same)


def _rng(item: pytest.Item) -> Rng:
    return Rng(_judging(item.config).seed, check_id(item))


def _judging(config: pytest.Config) -> Judging:
    return config.stash[CURRENT]
