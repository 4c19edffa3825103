"""Charts of the reference, drawn: what a student would see only when it is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from pydantic import JsonValue

from judge.charts import ChartsUnavailable, UndrawableChart, draw_on_paper
from judge.proof.outcomes import Case, CaseKind, Finding
from judge.proof.places import Place, Places
from judge.results import Chart

_DEFAULT_NAMES = {"key", "value", "density"}  # of what folds and densities make, where none is said
_MAKE_ANY_NAME = {"pivot", "lookup", "flatten"}


def charts_case(places: Places, charts: Sequence[Chart]) -> Case:
    """Every chart can be drawn, from columns that its table has."""
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
    columns = {name for row in chart.table for name in row}
    known = columns | _DEFAULT_NAMES | set(_made_names(chart.spec))
    for field in dict.fromkeys(_fields(chart.spec)):
        if field not in known and not _has_keys(chart.spec, _MAKE_ANY_NAME | {"data"}):
            yield place.finding(
                f"the chart {chart.id!r} draws the field {field!r}, which its table does not have",
                f"name one of: {', '.join(sorted(columns))}",
            )


def _place(places: Places, chart: Chart) -> Place:
    """Where the checks of its tier name the chart."""
    problem = places.problem
    file = next(tier.checks for tier in problem.tiers if tier.id == chart.tier)
    lines = problem.contents[file].decode().splitlines()
    named = (number for number, line in enumerate(lines, 1) if f'"{chart.id}"' in line)
    return places.file(file, next(named, 1))


def _fields(spec: JsonValue) -> Iterator[str]:
    """The fields of encodings; those with dots or brackets reach into a value, and are let be."""
    for name, value in _entries(spec):
        if name == "field" and isinstance(value, str) and not set(value) & set(".[\\"):
            yield value


def _made_names(spec: JsonValue) -> Iterator[str]:
    """What transforms call the columns that they make."""
    for name, value in _entries(spec):
        if name == "as":
            yield from (each for each in _listed(value) if isinstance(each, str))


def _has_keys(spec: JsonValue, names: set[str]) -> bool:
    return any(name in names for name, _ in _entries(spec))


def _entries(spec: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Every key of every object in it, with its value."""
    if isinstance(spec, dict):
        yield from spec.items()
    inside = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    for value in inside:
        yield from _entries(value)


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]
