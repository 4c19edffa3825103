"""Charts that the reference's own run makes, drawn: a student would see only that one is missing.

The preview, in which the numbers are called the reference's, is another run and not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

from pydantic import JsonValue

from judge.charts import ChartsUnavailable, UndrawableChart, draw_on_paper
from judge.proof.outcomes import Case, CaseKind, Finding
from judge.proof.places import Place, Places
from judge.results import Chart

_NO_SPECIFICATION = ("data", "datasets", "usermeta")
_REACHES_IN = set(".[\\")  # in a field's name: into a value
_KEEPS_COLUMNS = {"filter", "sample"}
_MAKES_OTHERS = {"pivot", "lookup", "flatten", "regression", "loess", "quantile", "impute"}


def charts_case(places: Places, charts: Sequence[Chart]) -> Case:
    """Every chart can be drawn; that it draws columns of its table is advice."""
    start = perf_counter()
    findings, skipped = list[Finding](), ""
    try:
        for chart in charts:
            findings += _findings(_place(places, chart), chart)
    except ChartsUnavailable as missing:
        skipped = str(missing)
    return Case(
        kind=CaseKind.LINT,
        id="charts",
        title="Every chart can be drawn",
        findings=findings,
        skipped=skipped,
        wall_ms=(perf_counter() - start) * 1000,
    )


def _findings(place: Place, chart: Chart) -> Iterator[Finding]:
    try:
        draw_on_paper(chart, dark=False)
    except UndrawableChart as refused:
        yield place.finding(str(refused), "correct its `spec`, which is Vega-Lite")
        return
    columns = list(dict.fromkeys(name for row in chart.table for name in row))
    for field in _unknown_fields(chart.spec, columns):
        yield place.finding(
            f"the chart {chart.id!r} draws the field {field!r}, which its table does not have",
            f"name one of: {', '.join(columns)}",
            advice=True,
        )


def _place(places: Places, chart: Chart) -> Place:
    """Where the checks of its tier name the chart."""
    problem = places.problem
    file = next(tier.checks for tier in problem.tiers if tier.id == chart.tier)
    lines = problem.contents[file].decode().splitlines()
    named = (number for number, line in enumerate(lines, 1) if f'"{chart.id}"' in line)
    return places.file(file, next(named, 1))


def _unknown_fields(spec: dict[str, JsonValue], columns: Sequence[str]) -> list[str]:
    """Fields that neither the data nor a transform has; none where that cannot be told."""
    known, parts = {*columns, *_columns_of(spec.get("data")), "*"}, list(_parts(spec))
    transforms = [each for part in parts for each in _listed(part.get("transform", []))]
    for transform in transforms:
        made = _made_names(transform)
        if made is None:
            return []
        known |= made
    has_other_data = any(name in part for part in parts[1:] for name in _NO_SPECIFICATION)
    if has_other_data or not columns:
        return []
    fields = (field for part in parts if isinstance(field := part.get("field"), str))
    plain = (field for field in fields if not set(field) & _REACHES_IN)
    return [field for field in dict.fromkeys(plain) if field not in known]


def _made_names(transform: JsonValue) -> set[str] | None:
    """The columns that a transform makes; None where that cannot be told."""
    if not isinstance(transform, dict) or _MAKES_OTHERS & transform.keys():
        return None
    if _KEEPS_COLUMNS & transform.keys():
        return set()
    said = [each["as"] for each in _parts(transform) if "as" in each]
    names = {name for each in said for name in _listed(each) if isinstance(name, str)}
    # Two columns come of a bin, a stack or a unit of time, though one is named.
    return {*names, *(f"{name}_end" for name in names)} if names else None


def _columns_of(data: JsonValue) -> set[str]:
    """The columns of inline data."""
    values = data.get("values") if isinstance(data, dict) else None
    rows = values if isinstance(values, list) else []
    return {name for row in rows if isinstance(row, dict) for name in row}


def _parts(spec: JsonValue) -> Iterator[Mapping[str, JsonValue]]:
    """A specification and every object in it, without those of data."""
    if isinstance(spec, dict):
        yield spec
        for name, value in spec.items():
            if name not in _NO_SPECIFICATION:
                yield from _parts(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _parts(value)


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]
