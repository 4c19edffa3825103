"""Workers and boxes are killed at random, and every submission gets its one verdict."""

from __future__ import annotations

from pathlib import Path

from tests.service.chaos import run_chaos

SUBMISSIONS = 50
KILLS = 4


def test_fifty_submissions_and_more_survive_four_killed_workers(
    database_url: str, tmp_path: Path
) -> None:
    report = run_chaos(tmp_path, SUBMISSIONS, KILLS, database_url=database_url)
    assert not report.wrong, str(report)
    assert report.kills >= KILLS, str(report)
    assert sum(report.verdicts.values()) == report.submissions >= SUBMISSIONS
