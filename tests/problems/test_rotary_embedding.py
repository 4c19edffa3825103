"""What is particular to `rotary-embedding`: which mistakes dot products hide, and its charts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.checks import Charts, RecordedChart
from judge.problem import load_problem
from tests.problems.local_session import LocalSession, failing_tiers, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "rotary-embedding"
PROBLEM = load_problem(FOLDER)
DISTANCE = "test_t2_edges::test_only_the_distance_matters"
CURVE = "test_t3_experiment::test_dot_product_over_distance"
HIDDEN = ("written-as-halves", "counted-from-one")  # ... by dot products


@dataclass(frozen=True)
class Run:
    """The failing checks and the charts of one source."""

    failures: dict[str, str]
    charts: dict[str, RecordedChart]


def _runs(session: LocalSession) -> dict[str, Run]:
    sources = {mutant.id: PROBLEM.mutate(mutant) for mutant in PROBLEM.mutants}
    sources["reference"] = PROBLEM.reference
    return {name: _run(session, source) for name, source in sources.items()}


def _run(session: LocalSession, source: bytes) -> Run:
    charts = Charts("submission")
    failures = session.failures(source, 0, charts)
    return Run(failures, {each.id: each for each in charts.recorded})


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return in_session(FOLDER, _runs)


def test_dot_products_hide_another_order_and_another_start(runs: dict[str, Run]) -> None:
    for name in HIDDEN:
        failures = runs[name].failures
        assert CURVE not in failures, name
        assert DISTANCE not in failures, name
        assert failing_tiers(failures)[0] == "T1", name


def test_dot_products_show_a_wrong_direction_and_pairs_of_halves(runs: dict[str, Run]) -> None:
    for name in ("other-way-round", "reflected", "added", "halves"):
        assert DISTANCE in runs[name].failures, name


def test_angles_of_float32_are_noticed_far_from_the_start_only(runs: dict[str, Run]) -> None:
    assert set(runs["angles-in-the-dtype-of-x"].failures) == {"test_t2_edges::test_far_positions"}


def test_dot_product_falls_with_the_distance_as_its_closed_form_does(runs: dict[str, Run]) -> None:
    rows = runs["reference"].charts["dot-product-over-distance"].table
    assert [row["distance"] for row in rows] == list(range(97))
    for row in rows:
        angles = [int(str(row["distance"])) * 10000 ** (-pair / 32) for pair in range(32)]
        mean = sum(map(math.cos, angles)) / 32
        assert row["submission"] == pytest.approx(mean)
        assert row["analytic target"] == pytest.approx(mean)
    assert rows[0]["submission"] == 1.0


def test_clocks_of_a_reference_and_their_target_are_the_same_picture(runs: dict[str, Run]) -> None:
    chart = runs["reference"].charts["clocks"]
    hands: dict[object, list[object]] = {"submission": [], "analytic target": []}
    for row in chart.table:
        hands[row["series"]].append(row["cosine"])
    assert len(chart.table) == 2 * 6 * 32
    assert hands["submission"] == pytest.approx(hands["analytic target"])


def test_every_query_looks_three_tokens_back(runs: dict[str, Run]) -> None:
    rows = runs["reference"].charts["looking-back"].table
    looked_at = [
        (row["query"], row["key"])
        for row in rows
        if row["series"] == "submission" and float(str(row["weight"])) > 0.5
    ]
    assert looked_at == [(query, query - 3) for query in range(3, 11)]
