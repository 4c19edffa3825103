"""T3: dropout keeps the average and adds a spread that a formula predicts.

Many queries ask the same, so that one call drops their weights many times, independently. With the
weights w and values v, the output is the sum of w v, times 0 or 1 / (1 - p) each. Its mean is that
sum without dropout; its variance is p / (1 - p) times the sum of (w v)**2, as for any sum of
independent factors of mean 1 and variance p / (1 - p).

The streams are fixed, and so is how far an average of this many falls from the truth.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from oracle import Array, Case, attend

from judge.checks import Charts, Submission, assert_close, check

QUERIES = 2000
FIRST_SEED = 2014
RATES = (0.0, 0.2, 0.4, 0.6, 0.8)
# With weights 1/8, 2/8, 5/8 the three parts of the output are 1, 1 and 2.
VALUES = np.array([[8.0], [4.0], [3.2]])
PARTS = np.array([1.0, 1.0, 2.0])
TARGET = "analytic target"
# Stroke, dash and shape of each series: alike in no two of the three, so that colour is not needed.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS = {
    "submission": ("#0072B2", [1, 0], "circle"),
    "reference": ("#009E73", [6, 3], "square"),
    TARGET: ("#D55E00", [2, 2], "cross"),
}
Spec = dict[str, object]
Row = dict[str, object]


@cache
def _inputs() -> tuple[Array, Array]:
    """Queries that all give the scores log 1, log 2 and log 5, and their keys."""
    return np.tile(2 * np.log([[1.0, 2.0, 5.0, 1.0]]), (QUERIES, 1)), np.eye(4)[:3]


def _case(dropout: float) -> Case:
    """The case of one rate; each has a stream of its own."""
    q, k = _inputs()
    seed = FIRST_SEED + round(100 * dropout)
    return Case(q.copy(), k, VALUES.copy(), dropout=dropout, training=True, seed=seed)


def _exact_spread(rate: float) -> float:
    return math.sqrt(rate / (1 - rate) * float((PARTS**2).sum()))


def _chart(source: str) -> Spec:
    """Two plots beside each other, lines with marks over the rate of dropout."""
    names = [source, TARGET]
    strokes, dashes, shapes = zip(*(LOOKS[name] for name in names), strict=True)
    series = {"field": "series", "type": "nominal", "sort": None}
    legend = {"title": None, "orient": "top"}
    return {
        "description": f"Mean and spread of the output over the dropout rate: {source}, {TARGET}.",
        "transform": [{"fold": names, "as": ["series", "number"]}],
        "facet": {"column": {"field": "quantity", "type": "nominal", "header": {"title": None}}},
        "spec": {
            "width": 240,
            "height": 180,
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60}},
            "encoding": {
                "x": {
                    "field": "dropout",
                    "type": "quantitative",
                    "axis": {"title": "dropout", "tickCount": 4, "format": "~g"},
                },
                "y": {
                    "field": "number",
                    "type": "quantitative",
                    "axis": {"title": "output", "tickCount": 5, "format": "~g"},
                },
                "color": {
                    **series, "scale": {"domain": names, "range": strokes}, "legend": legend,
                },
                "strokeDash": {
                    **series, "scale": {"domain": names, "range": dashes}, "legend": legend,
                },
                "shape": {
                    **series, "scale": {"domain": names, "range": shapes}, "legend": legend,
                },
            },
        },
    }  # fmt: skip


@check(
    kind="experiment",
    why="Because the average stays, a model trained with dropout can be used without it.",
)
def test_dropout_keeps_the_average(submission: Submission, charts: Charts) -> None:
    """At every rate the output is 4 on average, and its spread is what the formula says."""
    outputs = [attend(submission, _case(rate))[0] for rate in RATES]
    means = np.array([output.mean() for output in outputs])
    spreads = np.array([output.std() for output in outputs])
    exact_means, exact_spreads = np.full(len(RATES), 4.0), np.array([*map(_exact_spread, RATES)])
    rows: list[Row] = [
        {
            "quantity": quantity,
            "dropout": rate,
            charts.source: round(float(number), 9),
            TARGET: round(float(right), 9),
        }
        for quantity, numbers, exact in (
            ("mean", means, exact_means),
            ("standard deviation", spreads, exact_spreads),
        )
        for rate, number, right in zip(RATES, numbers, exact, strict=True)
    ]
    title = "What dropout does to the output"
    charts.record("dropout", title=title, spec=_chart(charts.source), table=rows)
    # The largest standard error is that at the last rate.
    error = exact_spreads[-1] / math.sqrt(QUERIES)
    assert_close(means, exact_means, "the mean of the output", rtol=0, atol=4 * error)
    # Of so many numbers the spread itself is known to a few percent; a wrong factor is far outside.
    assert_close(spreads, exact_spreads, "the spread of the output", rtol=0.1, atol=1e-9)


@check(
    kind="experiment",
    why="Who looks at the weights of a model wants to see its opinion, not the dice.",
)
def test_weights_show_no_dropout(submission: Submission) -> None:
    """The weights returned are 1/8, 2/8 and 5/8 for every query, whatever is dropped."""
    _, weights = attend(submission, _case(0.8))
    assert_close(weights, np.tile([[1 / 8, 2 / 8, 5 / 8]], (QUERIES, 1)), "the weights")
