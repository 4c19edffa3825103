"""T3: two heads keep two favourites apart; one wide head has to choose.

The worked example, with the second key's last feature s in place of its 2: q = (1, 0, 0, 2),
k1 = (1, 0, 0, 0), k2 = (0, 1, 0, s), all projections the identity. The scores are

- in head 0, of width 2, (1, 0) / sqrt(2): s takes no part in them;
- in head 1, (0, 2s) / sqrt(2);
- in a single head of width 4, (1, 2s) / 2: what head 0 prefers is outvoted as s grows.
"""

from __future__ import annotations

import numpy as np
from oracle import PROJECTIONS, Array, Case, attend

from judge.checks import Charts, Submission, assert_close, assert_equal, check

STRENGTHS = np.linspace(0.0, 4.0, 9)
PANELS = ("head 0 of two", "head 1 of two", "one wide head")
TARGET = "closed form"
# Fill, outline and dash of each series: alike in no two of the three, so that colour is not needed.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS = {
    "submission": ("#0072B2", "#0072B2", [1, 0]),
    "reference": ("#009E7366", "#009E73", [1, 0]),
    TARGET: ("#D55E0000", "#D55E00", [4, 2]),
}
Spec = dict[str, object]
Row = dict[str, object]


# --- construction and closed form -----------------------------------------------------------------


def _case(heads: int, strengths: Array) -> Case:
    """One sequence for each strength."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"], state[f"{name}.bias"] = np.eye(4), np.zeros(4)
    count = len(strengths)
    x_q = np.tile([1.0, 0.0, 0.0, 2.0], (count, 1, 1))
    x_kv = np.tile([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]], (count, 1, 1))
    x_kv[:, 1, 3] = strengths
    return Case(heads, state, x_q, x_kv)


def _exact(strengths: Array) -> Array:
    """Weights of both keys in the three panels, [panel, strength, key]."""
    gaps = np.stack([np.full(len(strengths), 1.0), -2 * strengths]) / 2**0.5
    gaps = np.concatenate([gaps, (1 - 2 * strengths)[None] / 2])
    first = 1 / (1 + np.exp(-gaps))
    return np.stack([first, 1 - first], axis=-1)


def _found(submission: Submission, strengths: Array) -> tuple[Array, Array, Array]:
    """The same from the submission, and its outputs with two heads and with one."""
    outputs, weights = zip(
        *(attend(submission, _case(heads, strengths)) for heads in (2, 1)), strict=True
    )
    panels = [weights[0][:, 0, 0], weights[0][:, 1, 0], weights[1][:, 0, 0]]
    return np.stack(panels), outputs[0], outputs[1]


# --- charts ---------------------------------------------------------------------------------------


def _looks(source: str) -> Spec:
    names = [source, TARGET]
    fills, outlines, dashes = zip(*(LOOKS[name] for name in names), strict=True)
    series = {"field": "series", "type": "nominal", "sort": None}
    legend = {"title": None, "orient": "top", "symbolType": "square"}
    return {
        "fill": {**series, "scale": {"domain": names, "range": fills}, "legend": legend},
        "stroke": {**series, "scale": {"domain": names, "range": outlines}, "legend": legend},
        "strokeDash": {**series, "scale": {"domain": names, "range": dashes}, "legend": legend},
    }


def _bars(source: str) -> Spec:
    """The weights of both keys, a panel for each head; every bar with its number."""
    bar = {"mark": {"type": "bar", "strokeWidth": 1.5}, "encoding": _looks(source)}
    label = {
        "mark": {"type": "text", "align": "left", "dx": 5},
        "encoding": {"text": {"field": "label"}},
    }
    axis = {"title": "weight", "values": [0, 0.5, 1], "format": "~g"}
    place = {
        "y": {
            "field": "key",
            "type": "nominal",
            "sort": None,
            "scale": {"paddingInner": 0.2},
            "axis": {"title": None, "domain": False, "ticks": False, "labelPadding": 6},
        },
        "yOffset": {"field": "series", "type": "nominal", "sort": None},
        "x": {
            "field": "number",
            "type": "quantitative",
            "scale": {"domain": [0, 1.25]},
            "axis": axis,
        },
    }
    return {
        "description": "Weights of two keys in two heads of width 2 and in one head of width 4: "
        f"{source} and {TARGET}.",
        "transform": [
            {"fold": [source, TARGET], "as": ["series", "number"]},
            {
                "calculate": "isValid(datum.number) ? format(datum.number, '.3f') : 'no number'",
                "as": "label",
            },
        ],
        "facet": {
            "column": {"field": "head", "type": "nominal", "sort": None, "header": {"title": None}}
        },
        "spec": {"width": 200, "height": 110, "encoding": place, "layer": [bar, label]},
    }


def _lines(source: str) -> Spec:
    """The weight of key 1 against the strength of key 2, a panel for each head."""
    looks = _looks(source)
    place = {
        "x": {
            "field": "strength",
            "type": "quantitative",
            "axis": {"title": "strength of key 2", "tickCount": 4, "format": "~g"},
        },
        "y": {
            "field": "number",
            "type": "quantitative",
            "scale": {"domain": [0, 1]},
            "axis": {"title": "weight of key 1", "tickCount": 4, "format": "~g"},
        },
    }
    line = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {"stroke": looks["stroke"], "strokeDash": looks["strokeDash"]},
    }
    point = {
        "mark": {"type": "point", "size": 45, "strokeWidth": 1.5, "strokeDash": [1, 0]},
        "encoding": {"fill": looks["fill"], "stroke": looks["stroke"]},
    }
    return {
        "description": "Weight of key 1 as key 2 grows stronger, in two heads of width 2 and in "
        f"one head of width 4: {source} and {TARGET}.",
        "transform": [{"fold": [source, TARGET], "as": ["series", "number"]}],
        "facet": {
            "column": {"field": "head", "type": "nominal", "sort": None, "header": {"title": None}}
        },
        "spec": {"width": 200, "height": 160, "encoding": place, "layer": [line, point]},
    }


def _rows(source: str, found: Array, strengths: Array) -> list[Row]:
    """The weight of key 1 in each panel at each strength."""
    exact = _exact(strengths)
    return [
        {
            "head": PANELS[panel],
            "strength": float(strengths[at]),
            source: round(float(found[panel, at, 0]), 12),
            TARGET: round(float(exact[panel, at, 0]), 12),
        }
        for panel in range(3)
        for at in range(len(strengths))
    ]


# --- checks ---------------------------------------------------------------------------------------


@check(
    kind="experiment",
    why="Two places can be read at once only by two softmaxes.",
)
def test_two_favourites_side_by_side(submission: Submission, charts: Charts) -> None:
    """Two heads have a favourite key each; one head of the same total width has one."""
    strengths = np.array([2.0])
    found, output, mixed = _found(submission, strengths)
    exact = _exact(strengths)
    charts.record(
        "favourites",
        title="Where each head of the worked example looks",
        spec=_bars(charts.source),
        table=[
            {
                "head": PANELS[panel],
                "key": f"key {key + 1}",
                charts.source: round(float(found[panel, 0, key]), 12),
                TARGET: round(float(exact[panel, 0, key]), 12),
            }
            for panel in range(3)
            for key in range(2)
        ],
    )
    assert_close(found, exact, "the weights of head 0, head 1 and the one wide head")
    assert_equal(found[:, 0].argmax(axis=-1), np.array([0, 1, 1]), "the favourite of each head")
    # Each head's features are its average of the keys' own: (1, 0), (0, 1) and (0, 0), (0, 2).
    features = np.concatenate([exact[0], [[0.0, 2.0]] * exact[1, :, 1:]], axis=-1)
    assert_close(output[:, 0], features, "the merged heads")
    wide = np.concatenate([exact[2], [[0.0, 2.0]] * exact[2, :, 1:]], axis=-1)
    assert_close(mixed[:, 0], wide, "the output of the one wide head")


@check(
    kind="experiment",
    why="One softmax has one budget: what goes to a loud key is taken from the quiet one.",
)
def test_loud_key_outvotes_in_one_head_only(submission: Submission, charts: Charts) -> None:
    """As key 2 grows stronger, head 0 keeps its weight on key 1; the one wide head loses it."""
    found, _, _ = _found(submission, STRENGTHS)
    charts.record(
        "outvoted",
        title="Key 1 while key 2 grows stronger",
        spec=_lines(charts.source),
        table=_rows(charts.source, found, STRENGTHS),
    )
    assert_close(found, _exact(STRENGTHS), "the weights of head 0, head 1 and the one wide head")
