"""Charts that an experiment records: a Vega-Lite specification and the same numbers as rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
Row = Mapping[str, JsonValue]


@dataclass(frozen=True)
class RecordedChart:
    """One chart, ready to be sent: plain JSON, no addresses, every number finite or text."""

    id: str
    title: str
    spec: dict[str, JsonValue]
    table: list[dict[str, JsonValue]]


class Charts:
    """Collects the charts of a check. `source` says whose numbers they show.

    A check records its charts before it asserts, so that wrong numbers are drawn too.
    """

    def __init__(self, source: Literal["submission", "reference"] = "submission") -> None:
        self.source = source
        self.recorded: list[RecordedChart] = []

    def record(
        self, chart_id: str, /, *, title: str, spec: Mapping[str, JsonValue], table: Sequence[Row]
    ) -> None:
        """Record a chart. Where `spec` has no ``data``, `table` becomes its inline data.

        Numbers that are not finite are drawn as gaps and written as "NaN" or "Infinity" in the
        table. Raises ValueError for an id recorded before and for data behind an address.
        """
        if any(chart.id == chart_id for chart in self.recorded):
            raise ValueError(f"a chart {chart_id!r} is recorded already")
        rows = [dict(row) for row in table]
        full = {"$schema": SCHEMA, "data": {"values": rows}, **spec}
        if _has_url(full):
            raise ValueError(
                f"chart {chart_id!r} loads data from an address; give the values instead"
            )
        drawn = {key: _json(value, as_text=False) for key, value in full.items()}
        shown = [{key: _json(value, as_text=True) for key, value in row.items()} for row in rows]
        self.recorded.append(RecordedChart(chart_id, title, drawn, shown))


def _has_url(value: object) -> bool:
    if isinstance(value, (str, float, int)):
        return False
    if isinstance(value, Mapping):
        return "url" in value or any(_has_url(item) for item in value.values())
    return isinstance(value, list) and any(_has_url(item) for item in value)


def _json(value: object, *, as_text: bool) -> JsonValue:
    """`value` as plain JSON; raises ValueError for what JSON cannot say."""
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else _not_finite(value) if as_text else None
        case Mapping():
            return {str(key): _json(item, as_text=as_text) for key, item in value.items()}
        case list() | tuple():
            return [_json(item, as_text=as_text) for item in value]
        case _:
            raise ValueError(f"a chart cannot hold a {type(value).__name__}")


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
