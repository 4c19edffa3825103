"""Whose name a check's charts are drawn in."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.results import ChartSource
from tests.judging.tiny import tiny_problem

CHECK = """\
charts.record("c", title="C", spec={"mark": "bar"}, table=[{charts.source: 1.0}])
submission.double(rng.normal(2))
"""


@pytest.mark.parametrize("source", ["submission", "reference"])
def test_a_check_is_told_whose_numbers_its_charts_show(
    warm_judge: Judge, tmp_path: Path, source: ChartSource
) -> None:
    problem = tiny_problem(tmp_path, CHECK)
    files = {problem.main_file: problem.reference}
    (chart,) = warm_judge.attempt(problem, files, charts_of=source).charts
    assert (chart.source, chart.table) == (source, [{source: 1.0}])
