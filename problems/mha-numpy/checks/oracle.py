"""Cases, and what they should give: computed by loops, one number at a time, in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_tuple,
    assert_unchanged,
)

FUNCTION = "multi_head_attention"
NAMES = ("X", "W_q", "W_k", "W_v", "W_o")
Array = np.ndarray
Pair = tuple[Array, Array]
Rows = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Case:
    """The arguments of one call, in the order of the signature."""

    x: Array
    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array
    num_heads: int
    mask: Array | None = None

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The five floating arrays, in order."""
        return self.x, self.w_q, self.w_k, self.w_v, self.w_o

    @property
    def arguments(self) -> dict[str, object]:
        """All seven, as keyword arguments."""
        named = dict(zip(NAMES, self.arrays, strict=True))
        return {**named, "num_heads": self.num_heads, "mask": self.mask}


def draw(rng: Rng, *, tokens: int = 5, width: int = 6, heads: int = 2) -> Case:
    """A random case; projections have standard deviation 1/sqrt(d_model)."""
    x = rng.numpy.standard_normal((tokens, width))
    four = rng.numpy.standard_normal((4, width, width)) / math.sqrt(width)
    return Case(x, *four, num_heads=heads)


def draw_mask(rng: Rng, rows: int, tokens: int = 5) -> Array:
    """(rows, tokens): one random row, turned by one token more from row to row.

    Every row shows a token and hides one, and of five tokens no two rows are alike.
    """
    row = rng.visible(tokens).numpy()
    return np.stack([np.roll(row, step) for step in range(rows)])


def with_mask(case: Case, mask: Array) -> Case:
    """The same case with a mask."""
    return replace(case, mask=mask)


def attend(submission: Submission, case: Case) -> Pair:
    """The submission's answer, once it has the right form and every input is as it was."""
    arguments = (*case.arrays, case.num_heads, *(() if case.mask is None else (case.mask,)))
    observation = submission.observe(FUNCTION, *arguments)
    assert_unchanged(observation)
    return checked_pair(observation.value, case)


def checked_pair(result: object, case: Case) -> Pair:
    """`result` as (output, weights), both float64 and of the shape that the case asks for."""
    output, weights = assert_tuple(result, 2)
    tokens, width = case.x.shape
    assert_array(output, "the output", shape=(tokens, width), dtype=np.float64)
    assert_array(weights, "the weights", shape=(case.num_heads, tokens, tokens), dtype=np.float64)
    return output, weights


def assert_both(
    submission: Submission, case: Case, where: str = "", right: Pair | None = None
) -> None:
    """Weights and output are those of the loops, or `right` where that is known otherwise."""
    output, weights = attend(submission, case)
    right_output, right_weights = right or expected(case)
    assert_close(weights, right_weights, f"the weights{where}")
    assert_close(output, right_output, f"the output{where}")


# --- what is right --------------------------------------------------------------------------------


def expected(case: Case) -> Pair:
    """Output and weights by loops over heads, queries and keys; no reshape, no broadcasting."""
    tokens, width = case.x.shape
    d = width // case.num_heads
    q, k, v = (_product(case.x, w) for w in (case.w_q, case.w_k, case.w_v))
    mask = np.ones((tokens, tokens), dtype=bool) if case.mask is None else case.mask
    visible = np.broadcast_to(mask, (tokens, tokens)).tolist()
    heads: list[list[float]] = [[] for _ in range(tokens)]
    weights = np.zeros((case.num_heads, tokens, tokens))
    for head in range(case.num_heads):
        own = slice(head * d, (head + 1) * d)
        for i in range(tokens):
            seen = [j for j in range(tokens) if visible[i][j]]
            scores = [_dot(q[i][own], k[j][own]) / math.sqrt(d) for j in seen]
            shares = _softmax(scores)
            weights[head, i, seen] = shares
            columns = zip(*(v[j][own] for j in seen), strict=True)
            heads[i].extend(_dot(shares, column) for column in columns)
    return np.array(_product(heads, case.w_o)), weights


def _product(a: Array | Rows, b: Array) -> list[list[float]]:
    columns = b.T.tolist()
    rows = a.tolist() if isinstance(a, np.ndarray) else a
    return [[_dot(row, column) for column in columns] for row in rows]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _softmax(scores: Sequence[float]) -> list[float]:
    top = max(scores)
    grown = [math.exp(score - top) for score in scores]
    total = math.fsum(grown)
    return [each / total for each in grown]
