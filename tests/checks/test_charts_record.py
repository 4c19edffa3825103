"""Charts are plain JSON by the time they are recorded."""

from __future__ import annotations

import json
import math

import pytest

from judge.checks import Charts


def test_table_becomes_the_data_of_a_specification_without() -> None:
    charts = Charts()
    charts.record("a", title="A", spec={"mark": "bar"}, table=[{"x": 1, "y": math.nan}])
    (chart,) = charts.recorded
    assert chart.spec["data"] == {"values": [{"x": 1, "y": None}]}
    assert chart.table == [{"x": 1, "y": "NaN"}]
    assert str(chart.spec["$schema"]).endswith("/vega-lite/v6.json")
    json.dumps([chart.spec, chart.table], allow_nan=False)


def test_own_data_is_kept() -> None:
    charts = Charts("reference")
    charts.record("a", title="A", spec={"data": {"values": [1]}}, table=[{"x": 1}])
    assert charts.recorded[0].spec["data"] == {"values": [1]}
    assert charts.source == "reference"


def test_addresses_doubles_and_objects_are_the_authors_error() -> None:
    charts = Charts()
    with pytest.raises(ValueError, match="address"):
        charts.record("a", title="A", spec={"layer": [{"data": {"url": "x"}}]}, table=[])
    with pytest.raises(ValueError, match="set"):
        charts.record("a", title="A", spec={"x": {1}}, table=[])  # type: ignore[dict-item]
    charts.record("a", title="A", spec={}, table=[])
    with pytest.raises(ValueError, match="recorded already"):
        charts.record("a", title="A", spec={}, table=[])
