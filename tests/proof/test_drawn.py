"""Charts of the reference that cannot be drawn, or show nothing, are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.checks import Charts
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


def case_of(
    places: Places,
    spec: dict[str, JsonValue] = CHART.spec,
    table: list[dict[str, JsonValue]] = CHART.table,
) -> Case:
    """What is said of a chart that a check of T1 records."""
    charts = Charts()
    charts.record("weights", title="Weights", spec=spec, table=table)
    chart = Chart(
        id="weights", tier="T1", title="Weights", source=charts.source,
        spec=charts.recorded[0].spec, table=charts.recorded[0].table,
    )  # fmt: skip
    return charts_case(places, [chart])


def drawing(field: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"mark": "bar", "encoding": {"x": {"field": field}, "y": {"field": "mine"}}, **more}


@pytest.mark.parametrize(
    ("spec", "table"),
    [
        (CHART.spec, CHART.table),
        (FOLDED, ROWS),
        (drawing("b_end", transform=[{"bin": True, "field": "at", "as": "b"}]), ROWS),
        (drawing("3", transform=[{"pivot": "theirs", "value": "mine"}]), ROWS),
        (drawing("own", data={"values": [{"own": 1, "mine": 2}]}), ROWS),
        (drawing("wrong"), []),
        (drawing("at", transform=[{"filter": "datum.at > 0"}]), [{**ROWS[0], "field": "abc"}]),
    ],
    ids=["plain", "folded", "binned", "pivoted", "own-data", "no-rows", "odd-column"],
)
def test_of_columns_and_of_what_is_made_of_them_nothing_is_said(
    places: Places, spec: dict[str, JsonValue], table: list[dict[str, JsonValue]]
) -> None:
    assert case_of(places, spec, table).findings == []


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
    case = case_of(places, spec)
    assert case.failed
    (found,) = case.findings
    assert found.file.endswith(CHECKS)
    assert '"weights"' in places.problem.contents[CHECKS].decode().splitlines()[found.line - 1]
    assert reason in found.message
    assert "\n" not in found.message


@pytest.mark.parametrize(
    "spec",
    [drawing("att"), drawing("att", transform=[{"calculate": "1", "as": "one"}])],
    ids=["plain", "transformed"],
)
def test_a_field_that_the_table_does_not_have_is_told(
    places: Places, spec: dict[str, JsonValue]
) -> None:
    case = case_of(places, spec, ROWS)
    (found,) = case.findings
    assert case.holds
    assert "'att'" in found.message
    assert found.remedy == "name one of: at, mine, theirs"


def test_without_a_renderer_nothing_is_claimed(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    case = case_of(places)
    assert not case.holds
    assert "judge[charts]" in case.skipped
