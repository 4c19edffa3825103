"""Charts of the reference that cannot be drawn, or show nothing, are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.problem import load_problem
from judge.proof.drawn import charts_case
from judge.proof.outcomes import Case
from judge.proof.places import Places
from judge.results import Chart
from tests.proof.proofs import CHART
from tests.small_problem import FILES, write_problem

CHECKS = "checks/test_t1_oracle.py"
FOLDED: dict[str, JsonValue] = {
    "transform": [
        {"fold": ["mine", "theirs"], "as": ["series", "number"]},
        {"calculate": "2 * datum.number", "as": "twice"},
    ],
    "layer": [
        {"mark": "line", "encoding": {"y": {"field": "twice", "type": "quantitative"}}},
        {"mark": "point", "encoding": {"color": {"field": "series"}, "x": {"field": "at"}}},
    ],
}
ROWS: list[dict[str, JsonValue]] = [{"at": 1, "mine": 2.0, "theirs": 3.0}]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    checks = FILES[CHECKS] + '\nNAME = "weights"\n'
    return Places(load_problem(write_problem(tmp_path, checks_test_t1_oracle_py=checks)))


def case_of(places: Places, **changed: object) -> Case:
    chart = CHART.model_copy(update={"tier": "T1", **changed})
    return charts_case(places, [Chart.model_validate(chart.model_dump())])


@pytest.mark.parametrize("changed", [{}, {"spec": FOLDED, "table": ROWS}], ids=["plain", "folded"])
def test_a_chart_of_columns_and_of_what_is_made_of_them_holds(
    places: Places, changed: dict[str, object]
) -> None:
    assert case_of(places, **changed).holds


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"mark": "lin"}, "reading 'filled'"),
        ({"encoding": {}}, "at least one of the following properties"),
        (
            {"mark": "line", "encoding": {"x": {"field": "key", "type": "quantitive"}}},
            'Invalid field type "undefined"',
        ),
    ],
    ids=["mark", "no-mark", "type"],
)
def test_what_cannot_be_drawn_is_found_with_the_renderers_reason(
    places: Places, spec: dict[str, JsonValue], reason: str
) -> None:
    case = case_of(places, spec=spec)
    assert case.failed
    (found,) = case.findings
    assert found.file.endswith(CHECKS)
    assert '"weights"' in places.problem.contents[CHECKS].decode().splitlines()[found.line - 1]
    assert reason in found.message
    assert "\n" not in found.message


def test_a_field_that_the_table_does_not_have_is_found(places: Places) -> None:
    spec = {"mark": "bar", "encoding": {"x": {"field": "kee"}, "y": {"field": "weight"}}}
    (found,) = case_of(places, spec=spec).findings
    assert "'kee'" in found.message
    assert "key, weight" in found.remedy
