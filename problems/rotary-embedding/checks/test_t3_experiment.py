"""T3: clocks of many speeds, what their hands say about a distance, and a head that looks back.

A teaching construction: nothing is trained, and no figure of the paper is drawn again. Vectors are
chosen so that each number has a closed form, written with cosines and without any rotation:

- The arrow (1, 0) of pair i points to (cos a, sin a) at position m, with a = m * frequency(i).
- Two vectors whose pairs are all that arrow have the mean of cos(distance * frequency(i)) as the
  dot product, once it is divided by the number of pairs.
- Such a query whose arrows are set back by three positions beforehand scores highest where the
  key is three positions before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from oracle import BASE, answer, frequency

from judge.checks import Charts, Submission, assert_close, check

TARGET = "analytic target"
# Colour, dash and width of each series: colour is not needed, and lines that agree are all seen.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS: dict[str, tuple[str, list[int], float]] = {
    "submission": ("#0072B2", [1, 0], 1.5),
    "reference": ("#009E73", [8, 8], 3.0),
    TARGET: ("#D55E00", [1, 11], 6.0),
}
Spec = dict[str, object]
Row = dict[str, object]

CLOCK_WIDTH, CLOCK_BASE, TICKS = 12, 100.0, 32
DECAY_WIDTH, FARTHEST = 64, 96
HEAD_WIDTH, BACK, SHARPNESS, TOKENS = 16, 3, 6.0, 11


def _frequencies(width: int, base: float = BASE) -> torch.Tensor:
    """[d/2]: radians per position."""
    frequencies = [frequency(pair, width, base) for pair in range(width // 2)]
    return torch.tensor(frequencies, dtype=torch.float64)


def _arrows(tokens: int, width: int, turned: float = 0.0) -> torch.Tensor:
    """[tokens, width]: every pair is (1, 0), turned by so many positions."""
    angles = turned * _frequencies(width)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten().expand(tokens, width).clone()


@check(
    kind="experiment",
    why="Fast hands tell neighbours apart, slow ones tell the beginning of a text from its end.",
)
def test_clocks(submission: Submission, charts: Charts) -> None:
    """Six arrows that start as (1, 0) point to (cos, sin) of position times frequency."""
    found = answer(submission, _arrows(TICKS, CLOCK_WIDTH), None, CLOCK_BASE).detach()
    places = torch.arange(TICKS, dtype=torch.float64)
    angles = places[:, None] * _frequencies(CLOCK_WIDTH, CLOCK_BASE)
    right = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)
    charts.record(
        "clocks",
        title="Six hands, each slower than the one before",
        spec=_map(
            f"How far each of six pairs points to where it started, at positions 0 to {TICKS - 1}, "
            f"with base {CLOCK_BASE:g}: {charts.source} and {TARGET}.",
            ("position", "pair", "cosine"),
            (400, 120),
            "row",
        ),
        table=_cells(
            charts.source, found[:, ::2].T, right[:, ::2].T, ("pair", "position", "cosine")
        ),
    )
    assert_close(found, right)


@check(
    kind="experiment",
    why="Without a word learned, tokens that are near each other agree more than those far apart.",
)
def test_dot_product_over_distance(submission: Submission, charts: Charts) -> None:
    """Equal vectors have the mean cosine as dot product, at every distance and from every start."""
    distances = torch.arange(FARTHEST + 1)
    found = _dot_products(submission, distances, 0)
    right = torch.cos(distances[:, None] * _frequencies(DECAY_WIDTH)).mean(-1)
    columns = zip(distances.tolist(), found.tolist(), right.tolist(), strict=True)
    charts.record(
        "dot-product-over-distance",
        title="How much of a dot product is left at a distance",
        spec=_lines(charts.source),
        table=[
            {"distance": place, charts.source: round(own, 12), TARGET: round(exact, 12)}
            for place, own, exact in columns
        ],
    )
    assert_close(found, right, "the dot product")
    for start in (7, 1000):
        found = _dot_products(submission, distances, start)
        assert_close(found, right, f"the dot product with a key at position {start}")


def _dot_products(submission: Submission, distances: torch.Tensor, start: int) -> torch.Tensor:
    """[distances]: of queries so far behind one key at `start`, each of length one."""
    query = answer(submission, _arrows(len(distances), DECAY_WIDTH), start + distances)
    key = answer(submission, _arrows(1, DECAY_WIDTH), torch.tensor([start]))
    return (query @ key[0]).detach() / (DECAY_WIDTH / 2)


@check(
    kind="experiment",
    why='"The token three before me" is one vector to learn, the same wherever the token stands.',
)
def test_looking_back(submission: Submission, charts: Charts) -> None:
    """Queries whose arrows are set back by three positions look at the key three tokens before."""
    places = torch.arange(TOKENS)
    query = answer(submission, _arrows(TOKENS - BACK, HEAD_WIDTH, -BACK), places[BACK:])
    key = answer(submission, _arrows(TOKENS, HEAD_WIDTH), places)
    found = torch.softmax(SHARPNESS * (query @ key.mT), dim=-1).detach()
    away = places[BACK:, None] - places - BACK
    scores = torch.cos(away[..., None] * _frequencies(HEAD_WIDTH)).sum(-1)
    right = torch.softmax(SHARPNESS * scores, dim=-1)
    charts.record(
        "looking-back",
        title="A head that looks three tokens back",
        spec=_map(
            f"Attention weight of each key for the queries at positions {BACK} to {TOKENS - 1}: "
            f"{charts.source} and {TARGET}.",
            ("key", "query", "weight"),
            (200, 160),
            "column",
        ),
        table=_cells(charts.source, found, right, ("query", "key", "weight"), BACK),
    )
    assert_close(found, right, "the attention weights")
    assert found.argmax(-1).tolist() == places[:-BACK].tolist(), (
        "Some query does not look at the key three positions before it."
    )


def _cells(
    source: str,
    found: torch.Tensor,
    right: torch.Tensor,
    names: tuple[str, str, str],
    first: int = 0,
) -> list[Row]:
    """A row for each entry of both matrices; rows of a matrix are counted from `first`."""
    line, column, number = names

    def rows(series: str, matrix: torch.Tensor) -> Iterable[Row]:
        for i, entries in enumerate(matrix.tolist(), start=first):
            for j, entry in enumerate(entries):
                yield {line: i, column: j, "series": series, number: round(entry, 12)}

    return [*rows(TARGET, right), *rows(source, found)]


def _map(description: str, names: tuple[str, str, str], size: tuple[int, int], facets: str) -> Spec:
    """A coloured cell for each number, one map for each series."""
    across, down, number = names
    low = -1 if number == "cosine" else 0
    colours = ["#D55E00", "#F2F2F2", "#0072B2"] if low else ["#F2F2F2", "#0072B2"]
    axis = {"labelAngle": 0, "ticks": False}
    every = 4 if facets == "row" else 2
    places = [place for place in range(TICKS) if place % every == 0]
    return {
        "description": description,
        "width": size[0],
        "height": size[1],
        "mark": {"type": "rect"},
        "encoding": {
            facets: {
                "field": "series",
                "type": "nominal",
                "header": {"title": None, "labelOrient": "top"},
            },
            "x": {
                "field": across,
                "type": "ordinal",
                "axis": {"title": across, "values": places, **axis},
            },
            "y": {"field": down, "type": "ordinal", "axis": {"title": down, **axis}},
            "color": {
                "field": number,
                "type": "quantitative",
                "scale": {"domain": [-1, 0, 1] if low else [0, 1], "range": colours, "clamp": True},
                "legend": {"title": number, "orient": "bottom", "tickCount": 3},
            },
        },
    }


def _lines(source: str) -> Spec:
    """Two lines: the column of the source's numbers and that of the target are folded into one."""
    names = [source, TARGET]
    colours, dashes, widths = zip(*(LOOKS[name] for name in names), strict=True)

    def looks(values: Sequence[object]) -> Spec:
        scale = {"domain": names, "range": list(values)}
        legend = {"title": None, "orient": "top", "columns": 2}
        return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}

    return {
        "description": (
            f"Dot product of two equal vectors, rotated to positions up to {FARTHEST} apart: "
            f"{source} and {TARGET}."
        ),
        "width": 420,
        "height": 200,
        "transform": [{"fold": names, "as": ["series", "number"]}],
        "mark": {"type": "line", "strokeCap": "round"},
        "encoding": {
            "x": {
                "field": "distance",
                "type": "quantitative",
                "axis": {"title": "distance", "tickCount": 5},
            },
            "y": {
                "field": "number",
                "type": "quantitative",
                "axis": {"title": "dot product", "tickCount": 4},
            },
            "stroke": looks(colours),
            "strokeDash": looks(dashes),
            "strokeWidth": looks(widths),
        },
    }
