"""T3: two heads read one sentence, each for a relation of its own.

The sentence is "Ada dropped the key and she found it". Each token is a unit vector for its place
beside a unit vector for its word, hence d_model = 16, and with two heads d = 8.

- Head 0 reads places only. It looks at the word before, and at the first word from itself.
- Head 1 reads words only. It takes a pronoun to what it stands for ("she" to "Ada", "it" to "key"),
  and every other word to itself.

W_q puts sqrt(8) log 13 where W_k holds the one wanted place or word, and nothing elsewhere. Divided
by sqrt(8), the scores are log 13 and log 1, so the softmax is a matter of counts: 13 against seven
times 1, hence 13/20 for the one that is looked for and 1/20 for each of the others.

Both heads bring home words: W_v copies the word part of a token into each head's columns, and with
the identity as W_o the output holds the two heads' averages side by side.
"""

from __future__ import annotations

import math

import numpy as np
from oracle import Array, Case, attend

from judge.checks import Charts, Submission, assert_close, assert_equal, check

WORDS = ("Ada", "dropped", "the", "key", "and", "she", "found", "it")
MEANT = {"she": "Ada", "it": "key"}
REORDERED = ("she", "found", "the", "key", "and", "Ada", "dropped", "it")
N = len(WORDS)
FAVOURED = 13  # against 1 for each of the other seven: twentieths
HEADS = ("head 0: the word before", "head 1: the word that is meant")
ALONE = "the only head"
TARGET = "analytic target"
# The hues are told apart by colour-blind readers, and each reads on white as well as on black.
# Which series it is stands at the head of its line.
FILLS = {"submission": "#0072B2", "reference": "#009E73", TARGET: "#D55E00"}
CELL = 26  # in pixels
Spec = dict[str, object]
Row = dict[str, object]


# --- construction and closed form -----------------------------------------------------------------


def _case(words: tuple[str, ...] = WORDS, *, num_heads: int = 2, w_o: Array | None = None) -> Case:
    unit = np.eye(N)
    x = np.hstack([unit, unit[[WORDS.index(word) for word in words]]])
    strength = math.sqrt(N) * math.log(FAVOURED)
    nothing = np.zeros((N, N))
    w_q = strength * np.block([[_before(), nothing], [nothing, _meant()]])
    w_v = np.block([[nothing, nothing], [unit, unit]])
    return Case(x, w_q, np.eye(2 * N), w_v, np.eye(2 * N) if w_o is None else w_o, num_heads)


def _before() -> Array:
    """(N, N): for each place, one at the place before."""
    return np.eye(N)[[0, *range(N - 1)]]


def _meant() -> Array:
    """(N, N): for each word of `WORDS`, one at the word that is meant."""
    return np.eye(N)[[WORDS.index(MEANT.get(word, word)) for word in WORDS]]


def _exact_weights(words: tuple[str, ...] = WORDS) -> Array:
    """(2, N, N): 13/20 for what is looked for, 1/20 for the others."""
    of_words = [WORDS.index(word) for word in words]
    wanted = np.stack([_before(), _meant()[of_words][:, of_words]])
    return (1 + (FAVOURED - 1) * wanted) / (FAVOURED + N - 1)


def _exact_weights_of_one_head() -> Array:
    """(1, N, N): both relations in one score, divided by sqrt(16) where sqrt(8) was meant."""
    counts = FAVOURED ** ((_before() + _meant()) * math.sqrt(1 / 2))
    return (counts / counts.sum(axis=1, keepdims=True))[None]


# --- charts ---------------------------------------------------------------------------------------


def _heatmaps(source: str, heads: tuple[str, ...], description: str) -> Spec:
    """Heatmaps with percentages in the cells: a line for each series, a column for each head.

    Where there is one head, the series stand side by side.
    """
    names = [source, TARGET]
    fill = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": [FILLS[name] for name in names]},
        "legend": None,
    }
    series = {"field": "series", "type": "nominal", "sort": names, "title": None}
    bare: Spec = {"domain": False, "ticks": False, "labelPadding": 4}
    word: Spec = {"type": "nominal", "sort": list(WORDS)}
    place = {
        "x": {**word, "field": "seen", "axis": {**bare, "title": "looks at", "labelAngle": -90}},
        "y": {**word, "field": "token", "axis": {**bare, "title": None}},
    }
    share = {
        "field": "weight",
        "type": "quantitative",
        # The numbers stand on the fill: it stays light enough to read them, also in the dark.
        "scale": {"domain": [0, 1], "range": [0, 0.8], "clamp": True},
        "legend": None,
    }
    frame = {"mark": {"type": "rect", "fillOpacity": 0, "strokeWidth": 1}}
    cell = {"mark": {"type": "rect"}, "encoding": {"fill": fill, "fillOpacity": share}}
    number = {"mark": {"type": "text", "fontSize": 10}, "encoding": {"text": {"field": "percent"}}}
    quiet = {"encoding": {"stroke": {"value": "#8888888f"}}}
    return {
        "description": description,
        "transform": [
            {"fold": list(WORDS), "as": ["seen", "weight"]},
            {
                "calculate": "isValid(datum.weight) ? format(100 * datum.weight, '.0f') : '?'",
                "as": "percent",
            },
        ],
        "facet": {"column": series}
        if len(heads) == 1
        else {
            "row": series,
            "column": {"field": "head", "type": "nominal", "sort": list(heads), "title": None},
        },
        "spec": {
            "width": CELL * N,
            "height": CELL * N,
            "encoding": place,
            "layer": [cell, {**frame, **quiet}, number],
        },
    }


def _rows(source: str, found: Array, exact: Array, heads: tuple[str, ...]) -> list[Row]:
    """A row for each series, head and token, a column for each word that is looked at."""
    return [
        {
            "series": series,
            "head": head,
            "token": word,
            **dict(zip(WORDS, (round(float(w), 12) for w in row), strict=True)),
        }
        for series, weights in ((source, found), (TARGET, exact))
        for head, matrix in zip(heads, weights, strict=True)
        for word, row in zip(WORDS, matrix, strict=True)
    ]


# --- checks ---------------------------------------------------------------------------------------


@check(
    kind="experiment",
    why="Scores that are logarithms of counts make the softmax a matter of fractions.",
)
def test_two_heads_read_two_relations(submission: Submission, charts: Charts) -> None:
    """Head 0 gives 13/20 to the word before, head 1 gives 13/20 to the word that is meant."""
    _, weights = attend(submission, _case())
    exact = _exact_weights()
    charts.record(
        "two-relations",
        title="Where each head looks, in percent",
        spec=_heatmaps(
            charts.source,
            HEADS,
            f"Weights of eight words over eight words in two heads: {charts.source} and {TARGET}.",
        ),
        table=_rows(charts.source, weights, exact, HEADS),
    )
    assert_close(weights, exact, "the weights")


@check(
    kind="experiment",
    why="Reading off the favourites is how people look into the heads of trained models.",
)
def test_pronouns_find_their_nouns(submission: Submission) -> None:
    """In head 1 "she" looks at "Ada" and "it" at "key"; in head 0 each looks at the word before."""
    _, weights = attend(submission, _case())
    assert_close(weights.sum(axis=-1), np.ones((2, N)), "the total of a row")
    pronouns = [WORDS.index("she"), WORDS.index("it")]
    right = np.array([[4, 6], [0, 3]])
    found = weights.argmax(axis=-1)[:, pronouns]
    assert_equal(found, right, 'the favourites of "she" and "it" in each head')


@check(
    kind="experiment",
    why="One head follows places, the other words; only a change of order tells them apart.",
)
def test_same_words_in_another_order(submission: Submission) -> None:
    """In "she found the key and Ada dropped it", head 0 stays as it was and head 1 moves along."""
    _, weights = attend(submission, _case(REORDERED))
    assert_close(weights, _exact_weights(REORDERED), "the weights")


@check(
    kind="experiment",
    why="Side by side, the two answers stay apart: what was before, and who was meant.",
)
def test_what_each_word_brings_home(submission: Submission) -> None:
    """The output holds both heads' averages of words, mixed by a W_o that subtracts neighbours."""
    mixing = 2 * np.eye(2 * N) - np.roll(np.eye(2 * N), 1, axis=1)
    output, _ = attend(submission, _case(w_o=mixing))
    side_by_side = np.hstack(list(_exact_weights()))
    assert_close(output, 2 * side_by_side - np.roll(side_by_side, 1, axis=1), "the output")


@check(
    kind="experiment",
    why="This is what heads are for: one softmax has to share its unit among all relations.",
)
def test_one_head_has_to_share(submission: Submission, charts: Charts) -> None:
    """With one head and the same matrices, "she" divides its weight between "and" and "Ada"."""
    _, weights = attend(submission, _case(num_heads=1))
    exact = _exact_weights_of_one_head()
    charts.record(
        "one-head",
        title="The same sentence with a single head, in percent",
        spec=_heatmaps(
            charts.source,
            (ALONE,),
            f"Weights of eight words over eight words in one head: {charts.source} and {TARGET}.",
        ),
        table=_rows(charts.source, weights, exact, (ALONE,)),
    )
    assert_close(weights, exact, "the weights")
