from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from judge.charts import (
    ChartsUnavailable,
    UndrawableChart,
    draw,
    file_stem,
    prepare_folder,
    self_contained,
    write_charts,
)
from judge.results import Chart

BARS: dict[str, Any] = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "key", "type": "nominal"},
        "y": {"field": "weight", "type": "quantitative"},
    },
}


def chart(spec: dict[str, Any] = BARS, chart_id: str = "weights") -> Chart:
    return Chart.model_validate({
        "id": chart_id, "tier": "T3", "title": "Weights", "source": "submission", "spec": spec,
        "table": [{"key": "a", "weight": 0.25}, {"key": "b", "weight": 0.75}],
    })  # fmt: skip


def test_a_chart_is_drawn_as_svg_and_png_of_some_size() -> None:
    drawing = draw(chart())
    assert drawing.svg.startswith("<svg")
    assert "weight" in drawing.svg
    width, height = struct.unpack(">II", drawing.png[16:24])
    assert min(width, height) > 50


def test_the_table_is_what_is_drawn_where_a_specification_has_no_data() -> None:
    assert self_contained(chart())["data"] == {
        "values": [{"key": "a", "weight": 0.25}, {"key": "b", "weight": 0.75}]
    }


def test_a_drawing_says_what_it_is_and_whose_data_it_shows() -> None:
    assert "Weights (submission)" in draw(chart()).svg


def test_a_picture_brings_its_paper_whatever_shows_it() -> None:
    assert 'fill="#ffffff"' in draw(chart()).svg


def test_a_look_of_its_own_comes_before_the_theme() -> None:
    assert 'fill="#123456"' in draw(chart({**BARS, "config": {"background": "#123456"}})).svg


def test_own_data_stays() -> None:
    own = {"values": [{"key": "z", "weight": 1}]}
    assert self_contained(chart({**BARS, "data": own}))["data"] == own


def test_no_address_survives_however_deep_it_is() -> None:
    secret = "file:///etc/passwd"
    spec: dict[str, Any] = {
        "layer": [{"data": {"url": secret}, "mark": "bar"}],
        "transform": [{"lookup": "key", "from": {"data": {"url": secret}, "key": "key"}}],
        "data": {"url": secret, "format": {"type": "csv"}},
    }
    assert secret not in str(self_contained(chart(spec)))


def test_a_chart_that_would_fetch_is_drawn_without_fetching(tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_text('[{"key": "planted", "weight": 1}]')
    drawing = draw(chart({**BARS, "data": {"url": data.as_uri()}}))
    assert "planted" not in drawing.svg


def test_a_specification_that_is_none_is_named() -> None:
    with pytest.raises(UndrawableChart, match="'weights'"):
        draw(chart({"mark": "no such mark", "encoding": {"x": 1}}))


def test_charts_are_written_under_a_name_that_stays_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "charts"
    written = write_charts([chart(chart_id="../weights")], folder, "1-attempt")
    assert written == [folder / "1-attempt-..-weights.svg", folder / "1-attempt-..-weights.png"]
    assert all(path.stat().st_size > 0 for path in written)


@pytest.mark.parametrize(
    ("name", "stem"),
    [("plain-1.0", "plain-1.0"), ("a b/c", "a-b-c"), ("../..", "chart"), ("é", "chart")],
)
def test_a_file_stem_has_safe_characters_only(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize("name", ["file", "file/inner"])
def test_a_file_is_no_folder_for_charts(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ChartsUnavailable, match="it is not a folder"):
        prepare_folder(tmp_path / name)


def test_a_folder_that_cannot_be_written_to_is_refused() -> None:
    with pytest.raises(ChartsUnavailable, match="cannot be written to /proc/self"):
        prepare_folder(Path("/proc/self"))
