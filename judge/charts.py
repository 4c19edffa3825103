"""Charts as pictures: Vega-Lite to SVG and PNG, offline.

The numbers in a chart come from a submission, so a specification may not fetch anything: data
addresses are removed and the renderer is allowed none.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from judge.results import Chart

VEGA_LITE = "6.4"
PNG_SCALE = 2.0
REASON_CHARS = 300  # a specification may be quoted whole
OPTIONS: dict[str, Any] = {"vl_version": VEGA_LITE, "allowed_base_urls": []}
# How a picture looks where its specification does not say. A picture is a file, whoever shows it:
# it brings its own paper. The page has a theme of its own, in web/src/charts/theme.ts.
INK, QUIET, LINE = "#1c1e26", "#5b5e6b", "#dcdde1"
IN_THE_DARK = {INK: "#e6e7ec", QUIET: "#a2a5b3", LINE: "#33353f"}
FONT = "system-ui, Roboto, Helvetica, Arial, sans-serif"
THEME: dict[str, JsonValue] = {
    "background": "#ffffff",
    "padding": 12,
    "font": FONT,
    "view": {"stroke": None},
    "title": {"color": INK, "fontSize": 15, "anchor": "start", "offset": 12},
    "axis": {
        "labelColor": QUIET,
        "titleColor": QUIET,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "gridColor": LINE,
        "domainColor": QUIET,
        "tickColor": QUIET,
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12},
    "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "symbolSize": 160},
    "text": {"color": INK, "fontSize": 11},
}


class ChartsUnavailable(Exception):
    """No charts can be drawn, or kept where they are to be; the message says what to do."""


class UndrawableChart(Exception):
    """The specification of a chart is not valid: the problem's fault."""


@dataclass(frozen=True)
class Drawing:
    """One chart as pictures."""

    svg: str
    png: bytes


def draw(chart: Chart) -> Drawing:
    """Render a chart; raises `ChartsUnavailable` or `UndrawableChart`."""
    renderer = load_renderer()
    spec = self_contained(chart)
    with _author_told(chart):
        svg = renderer.vegalite_to_svg(spec, config=THEME, **OPTIONS)
        png = renderer.vegalite_to_png(spec, scale=PNG_SCALE, config=THEME, **OPTIONS)
    return Drawing(svg, png)


def draw_on_paper(chart: Chart, *, dark: bool) -> str:
    """Render a chart as SVG for a page, whose paper shows through; raises as `draw` does."""
    look = {**(_darkened(THEME) if dark else THEME), "background": "transparent"}
    renderer = load_renderer()
    with _author_told(chart):
        svg: str = renderer.vegalite_to_svg(self_contained(chart), config=look, **OPTIONS)
    return svg


def _darkened(theme: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        key: _darkened(value) if isinstance(value, dict)
        else IN_THE_DARK.get(value, value) if isinstance(value, str)
        else value
        for key, value in theme.items()
    }  # fmt: skip


@contextmanager
def _author_told(chart: Chart) -> Iterator[None]:
    """What the renderer refuses is an `UndrawableChart`."""
    try:
        yield
    except ValueError as error:
        raise UndrawableChart(f"the chart {chart.id!r} cannot be drawn: {_reason(error)}") from None


def _reason(error: ValueError) -> str:
    """What the renderer says: after a line that says it failed, and before where in its code."""
    first, *rest = str(error).splitlines() or ["no reason was given"]
    said = rest[0] if first.endswith(":") and rest else first
    return said.removeprefix("Error: ")[:REASON_CHARS]


def write_charts(charts: Sequence[Chart], folder: Path, prefix: str) -> list[Path]:
    """Write each chart as `<prefix>-<id>.svg` and `.png` into `folder`, and return the paths.

    Raises what `draw` raises, and `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for chart in charts:
        drawing = draw(chart)
        stem = folder / file_stem(f"{prefix}-{chart.id}")
        written += [stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")]
        written[-2].write_text(drawing.svg, encoding="utf-8")
        written[-1].write_bytes(drawing.png)
    return written


def prepare_folder(folder: Path) -> None:
    """Make `folder` unless it is there, and try to write into it; raises `ChartsUnavailable`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        if isinstance(error, FileExistsError | NotADirectoryError):
            reason = "it is not a folder"
        raise ChartsUnavailable(
            f"charts cannot be written to {folder}: {reason}. Name a folder that can be written to."
        ) from None


def load_renderer() -> Any:
    """The renderer's module; raises `ChartsUnavailable`.

    Imported on demand: it is optional, and 60 MB that most commands do not need.
    """
    try:
        import vl_convert  # noqa: PLC0415 - see above
    except ImportError:
        raise ChartsUnavailable(
            "drawing charts needs an optional part: pip install 'judge[charts]'"
        ) from None
    return vl_convert


def self_contained(chart: Chart) -> dict[str, JsonValue]:
    """The chart's specification without data addresses.

    Where it has no data it gets its table, where it has no title its own and whose data it shows.
    """
    values: list[JsonValue] = [dict(row) for row in chart.table]
    own = {key: _without_addresses(value) for key, value in chart.spec.items()}
    return {"data": {"values": values}, "title": f"{chart.title} ({chart.source})", **own}


def _without_addresses(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_without_addresses(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_addresses(item) for key, item in value.items() if key != "url"}
    return value


def file_stem(name: str) -> str:
    """`name` with everything but letters, digits, dot, dash and underscore as a dash."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-") or "chart"
