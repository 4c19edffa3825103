"""T3: what the scale is for. The entropy of the weights as d grows, with 1/sqrt(d) and without.

The construction, for d = 4 m**2 and 16 keys. Take the 16 ways to choose four signs. A key is four
blocks of m**2 features; block i is made of ones and minus ones that total m times sign i. Against a
query of ones (signs are flipped in both, so that the query is not that plain) its product is
m (s_0 + s_1 + s_2 + s_3): of mean zero and variance 4 m**2 = d over the keys, which is what
independent features of variance one give. Divided by sqrt(d) = 2 m it is (s_0 + ... + s_3) / 2 at
every width. At d = 4 the keys are simply all vectors of four signs.

With the factor b in front of that half sum, the softmax falls apart into four independent choices:
sign s has the probability 1 / (1 + exp(-b s)). Hence, in closed form,

- the entropy is 4 (log(2 cosh(b/2)) - b/2 tanh(b/2)), here in bits: 4 bits are 16 even weights;
- values that are the signs themselves average to tanh(b/2) in each of the four features.

b = 1 with the scale, b = sqrt(d) without. The kernel always scales, so "without" is a second query
that is multiplied by sqrt(d) beforehand.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from oracle import Case, attend

from judge.checks import Charts, Submission, assert_close, check, gradients

WIDTHS = (4, 16, 64, 256)
SCALED, UNSCALED = "with 1/\u221ad", "without"
TARGET = "analytic target"
# Colour, dash and shape of each series: alike in no two of the three, so that colour is not needed.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS: dict[str, tuple[str, list[int], str, int]] = {
    "submission": ("#0072B2", [1, 0], "circle", 40),
    "reference": ("#009E73", [7, 4], "square", 80),
    TARGET: ("#D55E00", [3, 3], "diamond", 220),
}
Spec = dict[str, object]
Row = dict[str, object]


# --- construction and closed form -----------------------------------------------------------------


@cache
def _signs() -> torch.Tensor:
    """[16, 4]: all ways to choose four signs."""
    return torch.cartesian_prod(*[torch.tensor([1.0, -1.0], dtype=torch.float64)] * 4)


@cache
def _query(width: int) -> torch.Tensor:
    """[d]: ones and minus ones."""
    return torch.where(torch.arange(width) % 3 == 1, -1.0, 1.0).double()


@cache
def _block(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two times [m*m]: features that are always 1 or -1 in a block, and those that are its sign."""
    place = torch.arange(size * size)
    decides = (2 * place >= size * (size - 1)) & (2 * place < size * (size + 1))
    always = torch.where(place < size * size / 2, 1.0, -1.0).double()
    return always * ~decides, decides.double()


@cache
def _keys(width: int) -> torch.Tensor:
    """[16, d]: four blocks each, with the query's flips."""
    always, decides = _block(_blocks_side(width))
    return (always + _signs()[..., None] * decides).reshape(16, width) * _query(width)


def _blocks_side(width: int) -> int:
    return math.isqrt(width // 4)


def _case(width: int, *, requires_grad: bool = False) -> Case:
    """Query 0 as it is, query 1 with the scale undone; the values are the signs."""
    query = _query(width)
    q = torch.stack([query, query * math.sqrt(width)])[None, None].requires_grad_(requires_grad)
    return Case(q, _keys(width).clone()[None, None], _signs().clone()[None, None])


def _factors(width: int) -> torch.Tensor:
    """[2]: what stands in front of the half sum for each of the two queries."""
    return torch.tensor([1.0, math.sqrt(width)], dtype=torch.float64)


def _exact_weights(width: int) -> torch.Tensor:
    """[2, 16]: the product of four independent choices."""
    return torch.sigmoid(_factors(width)[:, None, None] * _signs()).prod(dim=-1)


def _exact_entropy(width: int) -> torch.Tensor:
    """[2]: in bits."""
    half = _factors(width) / 2
    # log(2 cosh x) = x + log(1 + exp(-2 x)); of large numbers no cosh has to be taken.
    return 4 * (half + torch.log1p(torch.exp(-2 * half)) - half * torch.tanh(half)) / math.log(2)


def _entropy(weights: torch.Tensor) -> torch.Tensor:
    """[2]: in bits, of weights [1, 1, 2, 16]."""
    return torch.special.entr(weights.detach()[0, 0]).sum(dim=-1) / math.log(2)


def _entropies(submission: Submission) -> tuple[torch.Tensor, torch.Tensor]:
    """[widths, 2]: the submission's and the exact ones."""
    found = [_entropy(attend(submission, _case(width))[1]) for width in WIDTHS]
    return torch.stack(found), torch.stack([_exact_entropy(width) for width in WIDTHS])


# --- chart ----------------------------------------------------------------------------------------


def _lines(source: str) -> Spec:
    """Entropy over d, a panel with the scale and one without, the target's numbers beside it."""
    names = [source, TARGET]
    colours, dashes, shapes, sizes = zip(*(LOOKS[name] for name in names), strict=True)

    def looks(values: tuple[object, ...]) -> Spec:
        legend = {"title": None, "orient": "top", "symbolFillColor": "transparent"}
        scale = {"domain": names, "range": list(values)}
        return {"field": "series", "type": "nominal", "sort": None, "scale": scale} | {
            "legend": legend
        }

    width_axis = {"title": "width d", "values": list(WIDTHS), "format": "d", "grid": False}
    place = {
        "x": {
            "field": "d",
            "type": "quantitative",
            "scale": {"type": "log", "base": 2, "domain": [3, 340], "nice": False},
            "axis": width_axis,
        },
        "y": {
            "field": "number",
            "type": "quantitative",
            "scale": {"domain": {"unionWith": [0, 4]}},
            "axis": {"title": "entropy in bits", "tickCount": 4},
        },
    }
    line = {
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": {"stroke": looks(colours), "strokeDash": looks(dashes)},
    }
    point = {
        "mark": {"type": "point", "strokeWidth": 1.5, "fillOpacity": 0},
        "encoding": {
            "stroke": looks(colours),
            "shape": looks(shapes),
            "size": looks(sizes),
        },
    }
    number = {
        "transform": [{"filter": f"datum.series === '{TARGET}'"}],
        "mark": {"type": "text", "dy": -16},
        "encoding": {"text": {"field": "number", "format": ".2f"}},
    }
    missing = {
        "transform": [{"filter": "!isValid(datum.number)"}, {"calculate": "1.5", "as": "middle"}],
        "mark": {"type": "text"},
        "encoding": {"y": {"field": "middle"}, "text": {"value": "?"}},
    }
    return {
        "description": f"Entropy of 16 weights in bits over the width d, with the scale and "
        f"without it: {source} and {TARGET}.",
        "transform": [{"fold": names, "as": ["series", "number"]}],
        "facet": {"column": {"field": "scale", "type": "nominal", "sort": None, "title": None}},
        "spec": {
            "width": 260,
            "height": 200,
            "encoding": place,
            "layer": [line, point, number, missing],
        },
    }


def _rows(source: str, found: torch.Tensor, exact: torch.Tensor) -> list[Row]:
    return [
        {
            "scale": scale,
            "d": width,
            source: round(float(found[at, query]), 12),
            TARGET: round(float(exact[at, query]), 12),
        }
        for query, scale in enumerate((SCALED, UNSCALED))
        for at, width in enumerate(WIDTHS)
    ]


# --- checks ---------------------------------------------------------------------------------------


@check(
    kind="experiment",
    why="A layer should start out equally undecided whatever its width is.",
)
def test_entropy_with_the_scale(submission: Submission, charts: Charts) -> None:
    """Divided by the square root of d, the weights keep 3.36 of 4 bits at every width."""
    found, exact = _entropies(submission)
    charts.record(
        "entropy",
        title="How undecided the weights are",
        spec=_lines(charts.source),
        table=_rows(charts.source, found, exact),
    )
    assert_close(found[:, 0], exact[:, 0], "the entropy at d = 4, 16, 64, 256")


@check(
    kind="experiment",
    why="Scores grow like the square root of d; a softmax of large scores is one-hot.",
)
def test_entropy_without_the_scale(submission: Submission) -> None:
    """With the scale undone, the entropy falls from 2.1 bits at d = 4 to almost none at 256."""
    found, exact = _entropies(submission)
    assert_close(found[:, 1], exact[:, 1], "the entropy at d = 4, 16, 64, 256")


@check(
    kind="experiment",
    why="The sum of four signs makes a softmax over 16 keys four softmaxes over two.",
)
def test_weights_are_products_of_four_choices(submission: Submission) -> None:
    """Each weight is the product of four logistic functions, one for each sign of its key."""
    for width in WIDTHS:
        _, weights = attend(submission, _case(width))
        assert_close(weights[0, 0], _exact_weights(width), f"the weights at d = {width}")


@check(
    kind="experiment",
    why="With even weights the signs cancel; with a single favourite they are handed over whole.",
)
def test_average_of_the_signs(submission: Submission) -> None:
    """Values that are signs average to tanh(1/2) with the scale, and approach 1 without it."""
    for width in WIDTHS:
        output, _ = attend(submission, _case(width))
        right = torch.tanh(_factors(width) / 2)[:, None].expand(2, 4)
        assert_close(output[0, 0], right, f"the output at d = {width}")


@check(
    kind="experiment",
    why="This is the reason the paper gives: where a softmax is saturated, learning stops.",
)
def test_gradient_that_reaches_the_query(submission: Submission) -> None:
    """The gradient to the query fades with 1/cosh(sqrt(d)/2)^2 where the scale is undone."""
    for width in WIDTHS:
        case = _case(width, requires_grad=True)
        output, _ = attend(submission, case)
        ones = torch.ones(1, 1, 2, 4, dtype=torch.float64)
        found = gradients([output], {"q": case.q}, [ones])["q"]
        _, decides = _block(_blocks_side(width))
        slope = 1 / torch.cosh(_factors(width) / 2) ** 2 / math.sqrt(width)
        right = slope[:, None] * decides.repeat(4) * _query(width)
        assert_close(found[0, 0], right, f"the gradient to q at d = {width}", gradient=True)
