"""Workers and boxes are killed at random, and every submission gets its one verdict."""

from __future__ import annotations

from pathlib import Path

from tests.service.chaos import run_chaos

SUBMISSIONS = 50


def test_fifty_submissions_survive_random_kills(database_url: str, tmp_path: Path) -> None:
    report = run_chaos(tmp_path, SUBMISSIONS, database_url=database_url)
    assert not report.wrong, str(report)
    assert report.kills + report.boxes > 0, str(report)
    assert sum(report.verdicts.values()) == SUBMISSIONS
