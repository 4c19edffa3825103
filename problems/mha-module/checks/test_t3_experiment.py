"""T3: two heads follow two relations in a row of letters, and every exact weight is a fraction.

`forward` returns no weights, so they are read off. For B=1, T=6, D=16, H=2, hence d=8:

- the first 8 features of a token are its place as a unit vector, the last 8 its letter;
- in each head the value of a token is its place, and out_proj is the identity; so a token's output
  is, head by head, its weights of places 0 to 5, followed by two zeros (d is larger than T);
- the score of a pair is the logarithm of a whole number, COUNTS, and the softmax of logarithms is
  the counts over their total.

Head 0 looks for the place before, head 1 for the same letter.
"""

from __future__ import annotations

from functools import cache

import torch
from oracle import BIASES, Case, attend, words

from judge.checks import Charts, Submission, assert_close, check

LETTERS = "ABACBA"
LENGTH, D_HEAD = len(LETTERS), 8
RELATIONS = ("head 0: the token before", "head 1: the same letter")
BEFORE, SAME = 8, 4  # how strongly each relation draws, where any other pair counts 1
TARGET = "analytic target"
# Fill, outline and dash of each series: alike in no two of the three, so that colour is not needed.
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
LOOKS = {
    "submission": ("#0072B2", "#0072B2", [1, 0]),
    "reference": ("#009E7366", "#009E73", [1, 0]),
    TARGET: ("#D55E0000", "#D55E00", [4, 2]),
}
CELL = 34  # of the chart, in pixels; a weight of one is a square of LARGEST pixels
LARGEST = 26
Spec = dict[str, object]
Row = dict[str, object]


# --- construction and closed form -----------------------------------------------------------------


@cache
def _counts(causal: bool) -> torch.Tensor:
    """[H, T, T]: how strongly a token (row) is drawn to each place; 0 where it cannot look."""
    before = torch.ones(LENGTH, LENGTH, dtype=torch.float64)
    before[1:, :-1].diagonal().fill_(BEFORE)
    numbers = torch.tensor([ord(letter) for letter in LETTERS])
    same = torch.where(numbers[:, None] == numbers, float(SAME), 1.0).double()
    counts = torch.stack([before, same])
    return counts.tril() if causal else counts


def _exact_weights(causal: bool) -> torch.Tensor:
    """[H, T, T]: the counts over their totals."""
    counts = _counts(causal)
    return counts / counts.sum(dim=-1, keepdim=True)


def _case(out_weight: torch.Tensor) -> Case:
    """The row of letters, and a module whose heads follow the two relations."""
    x, state = _fixed()
    parameters = {name: tensor.clone() for name, tensor in state.items()}
    return Case(x.clone(), {**parameters, "out_proj.weight": out_weight}, num_heads=2)


@cache
def _fixed() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """All that never differs: the input, three weights and the biases, which are zero."""
    unit = torch.eye(D_HEAD, dtype=torch.float64)
    places = unit[:LENGTH]
    letters = unit[[ord(letter) - ord("A") for letter in LETTERS]]
    # The module divides scores by sqrt(d), so the logarithms come multiplied by it.
    before = torch.tensor(BEFORE, dtype=torch.float64).log() * D_HEAD**0.5
    same = torch.tensor(SAME, dtype=torch.float64).log() * D_HEAD**0.5
    predecessor = torch.zeros_like(unit)
    predecessor[:-1, 1:] = unit[:-1, :-1] * before  # place t asks for place t - 1
    state = {
        "q_proj.weight": torch.block_diag(predecessor, unit * same),
        "k_proj.weight": torch.eye(16, dtype=torch.float64),
        "v_proj.weight": torch.cat([torch.eye(8, 16), torch.eye(8, 16)]).double(),
        **{name: torch.zeros(16, dtype=torch.float64) for name in BIASES},
    }
    return torch.cat([places, letters], dim=-1)[None], state


def _per_head(output: torch.Tensor) -> torch.Tensor:
    """[1, T, D] as [H, T, d]: each head's slice, its weights in the first T columns."""
    return torch.stack(output[0].split(D_HEAD, dim=-1))


# --- charts ---------------------------------------------------------------------------------------


def _squares(source: str, description: str) -> Spec:
    """A grid for each head, a row a token: the area of a square is a weight.

    The submission's squares are filled and the exact ones are outlines around them, so that both
    stand in one place and agree where no colour is left over.
    """
    names = [source, TARGET]
    fills, outlines, dashes = zip(*(LOOKS[name] for name in names), strict=True)
    series = {"field": "series", "type": "nominal", "sort": None}
    legend = {"title": None, "orient": "top", "symbolType": "square", "symbolSize": 120}
    place = {"type": "nominal", "sort": None}
    axis = {"domain": False, "ticks": False, "labelPadding": 6, "grid": True}
    encoding = {
        "x": {**place, "field": "looks at", "axis": {**axis, "labelAngle": 0}},
        "y": {**place, "field": "token", "axis": {**axis, "title": None}},
        "size": {
            "field": "weight",
            "type": "quantitative",
            "scale": {"domain": [0, 1], "range": [0, LARGEST**2], "clamp": True},
            "legend": None,
        },
        "fill": {**series, "scale": {"domain": names, "range": fills}, "legend": legend},
        "stroke": {**series, "scale": {"domain": names, "range": outlines}, "legend": legend},
        "strokeDash": {**series, "scale": {"domain": names, "range": dashes}, "legend": legend},
    }
    return {
        "description": description,
        "transform": [{"fold": names, "as": ["series", "weight"]}],
        "facet": {"column": {"field": "head", "type": "nominal", "header": {"title": None}}},
        "spec": {
            "width": CELL * LENGTH,
            "height": CELL * LENGTH,
            "mark": {"type": "point", "shape": "square", "strokeWidth": 1.5, "opacity": 1},
            "encoding": encoding,
        },
    }


def _rows(source: str, found: torch.Tensor, causal: bool) -> list[Row]:
    """One row for each head, token and place it can look at: found weight, exact one, fraction."""
    weights, exact, counts = found.detach(), _exact_weights(causal), _counts(causal)
    return [
        {
            "head": relation,
            "token": _name(token),
            "looks at": _name(place),
            source: round(float(weights[head, token, place]), 12),
            TARGET: round(float(exact[head, token, place]), 12),
            "fraction": f"{int(count)}/{int(counts[head, token].sum())}" if count else "hidden",
        }
        for head, relation in enumerate(RELATIONS)
        for token in range(LENGTH)
        for place, count in enumerate(counts[head, token])
    ]


def _name(place: int) -> str:
    return f"{place} {LETTERS[place]}"


def _assert_relations(
    submission: Submission, charts: Charts, *, causal: bool, chart: str, title: str
) -> None:
    output = attend(submission, _case(torch.eye(16, dtype=torch.float64)), causal=causal)
    found, exact = _per_head(output), _exact_weights(causal)
    about = "under the causal mask" if causal else "without a mask"
    charts.record(
        chart,
        title=title,
        spec=_squares(
            charts.source,
            f"Weights of two heads over six letters {about}: {charts.source} and {TARGET}.",
        ),
        table=_rows(charts.source, found, causal),
    )
    unused = exact.new_zeros(2, LENGTH, D_HEAD - LENGTH)
    assert_close(found, torch.cat([exact, unused], dim=-1), f"{words(causal)}, head by head,")


# --- checks ---------------------------------------------------------------------------------------


@check(
    kind="experiment",
    why="Each head has a softmax of its own, so one relation need not make room for the other.",
)
def test_two_relations(submission: Submission, charts: Charts) -> None:
    """Head 0 gives the token before 8/13, head 1 shares its weight among equal letters."""
    title = "Where each head looks"
    _assert_relations(submission, charts, causal=False, chart="relations", title=title)


@check(
    kind="experiment",
    why="The mask takes the future away, and the softmax shares what is left among the past.",
)
def test_two_relations_under_the_mask(submission: Submission, charts: Charts) -> None:
    """With `causal`, the same counts are shared among the tokens up to each one."""
    title = "Where each head looks under the causal mask"
    _assert_relations(submission, charts, causal=True, chart="causal-relations", title=title)


@check(
    kind="experiment",
    why="out_proj is where the heads meet; until then, nothing of theirs is mixed.",
)
def test_out_proj_blends_the_heads(submission: Submission) -> None:
    """An out_proj that averages the two slices gives the mean of both heads' weights."""
    half = torch.eye(D_HEAD, dtype=torch.float64) / 2
    both = torch.cat([half, half], dim=-1)
    output = attend(submission, _case(torch.cat([both, -both])))
    mean = _exact_weights(causal=False).mean(dim=0)
    right = torch.nn.functional.pad(mean, (0, D_HEAD - LENGTH))
    assert_close(output, torch.cat([right, -right], dim=-1)[None], "the output")
