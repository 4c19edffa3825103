"""What is particular to `scaled-dot-product-attention`: its pitfalls, its charts and its words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.checks import Charts, RecordedChart
from judge.problem import load_problem
from tests.problems.local_session import LocalSession, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "scaled-dot-product-attention"
PROBLEM = load_problem(FOLDER)
PITFALLS = {
    "no-scale", "scale-by-width", "scale-by-value-width", "softmax-over-queries",
    "return-order-swapped", "float32-inside", "exponentials-without-shift",
    "shifted-by-hidden-maximum", "hidden-weights-tiny", "zeroed-without-renormalising",
    "dead-rows-uniform", "dead-rows-nan", "dead-rows-as-if-visible", "additive-minus-infinity",
    "mask-inverted", "mask-multiplied", "mask-changed-in-place",
}  # fmt: skip
RUN = ("reference", "no-scale", "scale-by-width", "additive-minus-infinity", "nan")
WIDTHS = (4, 16, 64, 256)


@dataclass(frozen=True)
class Run:
    """The failing checks and the charts of one source."""

    failures: dict[str, str]
    charts: list[RecordedChart]


def _runs(session: LocalSession) -> dict[str, Run]:
    sources = {mutant.id: PROBLEM.mutate(mutant) for mutant in PROBLEM.mutants}
    sources |= {Path(each.name).stem: each.source for each in PROBLEM.rejected}
    sources["reference"] = PROBLEM.reference
    return {name: _run(session, sources[name]) for name in RUN}


def _run(session: LocalSession, source: bytes) -> Run:
    charts = Charts("submission")
    return Run(session.failures(source, 0, charts), charts.recorded)


def _rounded(number: object) -> float:
    assert isinstance(number, float)
    return round(number, 2)


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return in_session(FOLDER, _runs)


def test_pitfalls_are_those_of_the_statement() -> None:
    assert {mutant.id for mutant in PROBLEM.mutants if mutant.pitfall} == PITFALLS


def test_experiment_notices_a_missing_and_a_wrong_scale(runs: dict[str, Run]) -> None:
    for name in ("no-scale", "scale-by-width"):
        message = runs[name].failures["test_t3_experiment::test_entropy_with_the_scale"]
        assert message.startswith("The entropy at d = 4, 16, 64, 256: largest error ")
        assert message.endswith("the limit is rtol 1e-07, atol 1e-09.")


def test_entropy_stays_with_the_scale_and_collapses_without(runs: dict[str, Run]) -> None:
    [chart] = runs["reference"].charts
    target = {(row["scale"], row["d"]): row["analytic target"] for row in chart.table}
    assert [_rounded(target["with 1/\u221ad", d]) for d in WIDTHS] == [3.36] * 4
    assert [_rounded(target["without", d]) for d in WIDTHS] == [2.11, 0.52, 0.02, 0.0]
    assert all(row["submission"] == pytest.approx(row["analytic target"]) for row in chart.table)


def test_chart_of_a_kernel_without_scale_shows_what_the_scale_prevents(
    runs: dict[str, Run],
) -> None:
    [chart] = runs["no-scale"].charts
    found = [_rounded(row["submission"]) for row in chart.table[:4]]
    assert found == [2.11, 0.52, 0.02, 0.0]
    assert "submission and analytic target" in str(chart.spec["description"])


def test_entropy_that_is_no_number_is_a_gap_in_the_chart_and_a_word_in_the_table(
    runs: dict[str, Run],
) -> None:
    [chart] = runs["nan"].charts
    assert {row["submission"] for row in chart.table} == {"NaN"}
    assert "NaN" not in json.dumps(chart.spec, allow_nan=False)


def test_gradient_check_names_the_input_that_turned_nan(runs: dict[str, Run]) -> None:
    failures = runs["additive-minus-infinity"].failures
    name = "test_t2_edges::test_gradients_with_a_row_that_sees_nothing"
    assert failures[name].startswith("The gradient to q: ")
    assert all("gradient" in each for each in failures)
