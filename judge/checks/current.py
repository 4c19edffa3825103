"""What is being judged right now, as the fixtures find it.

Whoever runs a session (the grader, a test) writes ``config.stash[CURRENT] = Judging(...)`` before
each check; the fixtures of `judge.checks.fixtures` read it. Two sessions never share it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from judge.checks.charts import Charts
from judge.checks.submission import Submission


@dataclass(frozen=True)
class Judging:
    """The submission under judgement, its secret seed, and where its charts go."""

    submission: Submission
    seed: int
    charts: Charts


CURRENT = pytest.StashKey[Judging]()
