"""T3: two heads route two queries to different tokens, and every exact answer is a fraction.

The construction, for B=1, two queries, three tokens, D=8, H=2, hence d=4. Each query, key and value
is a unit vector, so it picks one row of its matrix:

- query i is row i of w_q, key j is row 2 + j of w_k, value j is row 5 + j of w_v;
- in head h, row i of w_q holds 2 log COUNTS[h, i, j] at the place where row 2 + j of w_k holds 1.
  The kernel divides by sqrt(4) = 2, so the score is log COUNTS[h, i, j], and the softmax of
  logarithms is the counts over their total.

The rows nobody picks hold other numbers, so that picking them by mistake shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from oracle import Case, attend

from judge.checks import Charts, Submission, assert_close, assert_equal, check

# [H, Q, K]: how strongly each head draws each query to each key.
WHOLE = [[[6, 3, 1], [1, 2, 2]], [[1, 2, 5], [4, 1, 3]]]
COUNTS = torch.tensor(WHOLE, dtype=torch.float64)
# [H, K, d]: what each key's value holds for each head; the last feature subtracts two tokens.
CONTENTS = torch.tensor(
    [
        [[1, 0, 0, 1], [0, 1, 0, -1], [0, 0, 1, 0]],
        [[1, 0, 0, 0], [0, 1, 0, -1], [0, 0, 1, 1]],
    ],
    dtype=torch.float64,
)
TARGET = "analytic target"
# Fill, outline and dash of each series: alike in no two of the three, so that colour is not needed.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS = {
    "submission": ("#0072B2", "#0072B2", [1, 0]),
    "reference": ("#009E7366", "#009E73", [1, 0]),
    TARGET: ("#D55E0000", "#D55E00", [4, 2]),
}
BAR_HEIGHT = 50  # of the bars of one key or feature, in pixels
Spec = dict[str, object]
Row = dict[str, object]
BARE: Spec = {"domain": False, "ticks": False, "labelPadding": 6}


# --- construction and closed form -----------------------------------------------------------------


def _case(w_o: torch.Tensor) -> Case:
    return Case(*(fixed.clone() for fixed in _fixed()), w_o, num_heads=2)


@cache
def _fixed() -> tuple[torch.Tensor, ...]:
    """All that never differs: query, key and value, and the matrices that project them."""
    unit = torch.eye(8, dtype=torch.float64)
    w_q, w_k, w_v = (_other_numbers(step) for step in (1, 2, 3))
    logarithms = 2 * torch.log(COUNTS)
    w_q[0:2, 0:4] = torch.nn.functional.pad(logarithms[0], (0, 1))
    w_q[0:2, 4:8] = torch.nn.functional.pad(logarithms[1], (0, 1)).flip(-1)
    w_k[2:5, 0:4] = unit[0:3, 0:4]
    w_k[2:5, 4:8] = unit[0:3, 0:4].flip(-1)
    w_v[5:8] = torch.cat([CONTENTS[0], CONTENTS[1]], dim=-1)
    return unit[None, 0:2], unit[None, 2:5], unit[None, 5:8], w_q, w_k, w_v


def _other_numbers(step: int) -> torch.Tensor:
    """[8, 8]: whole numbers from -3 to 3 without a pattern."""
    return (torch.arange(64, dtype=torch.float64).reshape(8, 8) * step + 5) ** 2 % 7 - 3


def _exact_weights() -> torch.Tensor:
    """[1, H, Q, K]: the counts over their totals."""
    return (COUNTS / COUNTS.sum(dim=-1, keepdim=True))[None]


def _exact_features() -> torch.Tensor:
    """[1, Q, D]: per head, the contents averaged with the exact weights; heads side by side."""
    return torch.cat(list(_exact_weights()[0] @ CONTENTS), dim=-1)[None]


def _mixing() -> torch.Tensor:
    """[8, 8], a w_o that is neither symmetric nor local to a head: twice j, minus the one before.

    Column j of a product c @ w_o is 2 c[j] - c[j - 1], going round at 0.
    """
    unit = torch.eye(8, dtype=torch.float64)
    return 2 * unit - unit.roll(1, dims=1)


# --- charts ---------------------------------------------------------------------------------------


def _bars(source: str, entry: Spec, quantity: str, entries: int, description: str) -> Spec:
    """Grouped bars that lie, each with its number, a panel for each query and head.

    Lying bars leave each number a line of its own, however narrow the panel is. The number of a
    negative bar stands on the other side of zero, where it meets no axis.
    """
    names = [source, TARGET]
    fills, outlines, dashes = zip(*(LOOKS[name] for name in names), strict=True)
    series = {"field": "series", "type": "nominal", "sort": None}
    legend = {"title": None, "orient": "top", "symbolType": "square"}
    zero = {"condition": {"test": "datum.value === 0", "value": 2}, "value": 1}
    place = {
        "y": {"type": "nominal", "sort": None, "scale": {"paddingInner": 0.2}, **entry},
        "yOffset": series,
        "x": {
            "field": "number",
            "type": "quantitative",
            "axis": {"title": quantity, "tickCount": 4, "format": "~g", "gridWidth": zero},
        },
    }
    looks = {
        "fill": {**series, "scale": {"domain": names, "range": fills}, "legend": legend},
        "stroke": {**series, "scale": {"domain": names, "range": outlines}, "legend": legend},
        "strokeDash": {**series, "scale": {"domain": names, "range": dashes}, "legend": legend},
    }
    bar = {"mark": {"type": "bar", "strokeWidth": 1.5}, "encoding": looks}
    label = {
        "mark": {"type": "text", "align": "left", "dx": 5},
        "encoding": {"x": {"field": "end", "type": "quantitative"}, "text": {"field": "label"}},
    }
    header = {"title": None}
    return {
        "description": description,
        "transform": [
            {"fold": names, "as": ["series", "number"]},
            {"calculate": "max(datum.number, 0)", "as": "end"},
            {
                "calculate": "isValid(datum.number) ? format(datum.number, '.3~g') : 'no number'",
                "as": "label",
            },
        ],
        "facet": {
            "row": {"field": "query", "type": "nominal", "header": header},
            "column": {"field": "head", "type": "nominal", "header": header},
        },
        "spec": {
            "width": 240,
            "height": BAR_HEIGHT * entries,
            "encoding": place,
            "layer": [bar, label],
        },
        "resolve": {"scale": {"y": "independent", "yOffset": "independent"}},
    }


def _rows(
    source: str, found: torch.Tensor, exact: torch.Tensor, labels: Callable[..., Row]
) -> list[Row]:
    """One row for each entry, [head, query, entry], the submission's number beside the exact."""
    numbers, targets = found.detach().tolist(), exact.tolist()
    return [
        {
            **labels(h, q, n),
            source: round(numbers[h][q][n], 12),
            TARGET: round(targets[h][q][n], 12),
        }
        for q in range(2)
        for h in range(2)
        for n in range(exact.shape[2])
    ]


def _weight_labels(head: int, query: int, key: int) -> Row:
    counts = WHOLE[head][query]
    names: Row = {"query": f"query {query}", "head": f"head {head}", "key": f"key {key}"}
    return {**names, "fraction": f"{counts[key]}/{sum(counts)}"}


def _feature_labels(head: int, query: int, feature: int) -> Row:
    return {"query": f"query {query}", "head": f"head {head}", "feature": f"{4 * head + feature}"}


def _by_head(features: torch.Tensor) -> torch.Tensor:
    """[1, Q, D] as [H, Q, d]."""
    return torch.stack([features[0, :, 0:4], features[0, :, 4:8]])


# --- checks ---------------------------------------------------------------------------------------


@check(
    kind="experiment",
    why="Scores that are logarithms of whole numbers make the softmax a matter of fractions.",
)
def test_routing_weights(submission: Submission, charts: Charts) -> None:
    """Each head's weights are exact fractions: query 0 gives 6/10, 3/10, 1/10 in head 0."""
    _, weights = attend(submission, _case(torch.eye(8, dtype=torch.float64)))
    exact = _exact_weights()
    charts.record(
        "routing-weights",
        title="Where each head looks",
        spec=_bars(
            charts.source,
            {"field": "key", "axis": {**BARE, "title": None}},
            "weight",
            3,
            f"Weights of three keys for two queries in two heads: {charts.source} and {TARGET}.",
        ),
        table=_rows(charts.source, weights[0], exact[0], _weight_labels),
    )
    assert_close(weights, exact, "the weights")


@check(
    kind="experiment",
    why="A single softmax could not do this: it has one favourite per query.",
)
def test_two_heads_prefer_two_tokens(submission: Submission) -> None:
    """Query 0 looks mostly at key 0 in head 0 and mostly at key 2 in head 1."""
    _, weights = attend(submission, _case(torch.eye(8, dtype=torch.float64)))
    favourites, shares = weights.detach()[0, :, 0].argmax(dim=-1), weights.detach()[0, :, 0]
    assert_equal(favourites, torch.tensor([0, 2]), "the favourite key of query 0 in each head")
    largest = shares.amax(dim=-1)
    right = torch.tensor([6 / 10, 5 / 8], dtype=torch.float64)
    assert_close(largest, right, "the weight of the favourite key in each head")


@check(
    kind="experiment",
    why="Side by side, the heads keep both tokens apart instead of averaging them into one.",
)
def test_routed_features(submission: Submission, charts: Charts) -> None:
    """With the identity as w_o, each query's features are the two heads' averages side by side."""
    output, _ = attend(submission, _case(torch.eye(8, dtype=torch.float64)))
    exact = _exact_features()
    charts.record(
        "routed-features",
        title="What each query brings home",
        spec=_bars(
            charts.source,
            {"field": "feature", "axis": BARE},
            "value",
            4,
            f"Eight features of two queries, four from each head: {charts.source} and {TARGET}.",
        ),
        table=_rows(charts.source, _by_head(output), _by_head(exact), _feature_labels),
    )
    assert_close(output, exact, "the concatenated features")


@check(
    kind="experiment",
    why="w_o is where the heads finally meet: it mixes what they brought home.",
)
def test_result_after_w_o(submission: Submission) -> None:
    """After a w_o that mixes neighbouring features, the result is the closed form's."""
    output, _ = attend(submission, _case(_mixing()))
    features = _exact_features()
    assert_close(output, 2 * features - features.roll(1, dims=-1), "the output")
