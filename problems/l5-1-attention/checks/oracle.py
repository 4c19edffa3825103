"""Cases, and what they should give: row by row in float64, and with torch for the gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention as torch_attention

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_tuple,
    assert_unchanged,
    fail,
)

FUNCTION = "scaled_dot_product_attention"
PARAMETERS = ("q", "k", "v", "mask", "dropout", "training", "rng")
Array = np.ndarray[Any, np.dtype[Any]]
Pair = tuple[Array, Array]


@dataclass(frozen=True)
class Case:
    """The arguments of one call; `seed` is that of the stream. None is not passed on."""

    q: Array
    k: Array
    v: Array
    mask: Array | None = None
    dropout: float | None = None
    training: bool | None = None
    seed: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What is passed on besides q, k and v."""
        named = {"mask": self.mask, "dropout": self.dropout, "training": self.training}
        given = {name: value for name, value in named.items() if value is not None}
        return given if self.seed is None else {**given, "seed": self.seed}

    @property
    def arguments(self) -> dict[str, Any]:
        """Everything, by name."""
        return {"q": self.q, "k": self.k, "v": self.v, **self.options}

    @property
    def rows(self) -> tuple[int, ...]:
        """The shape of the weights: leading axes, Tq, Tk."""
        return (*self.q.shape[:-1], self.k.shape[-2])

    @property
    def visible(self) -> Array:
        """The mask in the shape of the weights."""
        return np.broadcast_to(True if self.mask is None else self.mask, self.rows)

    @property
    def drops(self) -> bool:
        """Whether dropout is in force."""
        return bool(self.training and self.dropout)


def draw(
    rng: Rng,
    *lead: int,
    queries: int = 3,
    keys: int = 5,
    width: int = 4,
    value_width: int = 2,
    dtype: type[np.floating[Any]] = np.float64,
    **options: Any,
) -> Case:
    """A random case with leading axes `lead`, or a batch of two."""
    lead = lead or (2,)
    shapes = ((queries, width), (keys, width), (keys, value_width))
    q, k, v = (rng.numpy.normal(size=(*lead, *shape)).astype(dtype) for shape in shapes)
    return Case(q, k, v, **options)


def draw_mask(rng: Rng, *shape: int) -> Array:
    """A mask whose rows all see something, and all but those of length one hide something."""
    return rng.visible(*shape).numpy()


def attend(submission: Submission, case: Case) -> Pair:
    """The submission's answer, once it has the right form and every input is as it was."""
    observation = submission.observe("attend", **case.arguments)
    assert_unchanged(observation)
    return checked_pair(observation.value, case)


def checked_pair(result: object, case: Case) -> Pair:
    """`result` as (output, weights), both of the shape and dtype that the case asks for."""
    output, weights = assert_tuple(result, 2)
    dtype = case.q.dtype.type
    shape = (*case.q.shape[:-1], case.v.shape[-1])
    assert_array(output, "the output", shape=shape, dtype=dtype)
    assert_array(weights, "the weights", shape=case.rows, dtype=dtype)
    return output, weights


def assert_both(submission: Submission, case: Case, where: str = "") -> None:
    """Output and weights are those of `expected`."""
    output, weights = attend(submission, case)
    right_output, right_weights = expected(case)
    dtype = case.q.dtype.type
    assert_close(weights, right_weights, f"the weights{where}", dtype=dtype)
    assert_close(output, right_output, f"the output{where}", dtype=dtype)


def expected(case: Case, drawn_before: int = 0) -> Pair:
    """Output and weights, row by row; hidden keys and values are not even looked at.

    `drawn_before` counts what was drawn from the stream earlier.
    """
    weights = np.zeros(case.rows)
    output = np.zeros((*case.q.shape[:-1], case.v.shape[-1]))
    factors, visible = _factors(case, drawn_before), case.visible
    q, k, v = (array.astype(np.float64) for array in (case.q, case.k, case.v))
    for row in np.ndindex(*case.rows[:-1]):
        keys = visible[row].nonzero()[0]
        if keys.size == 0:
            continue
        lead = row[:-1]
        scores = k[lead][keys] @ q[row] / math.sqrt(q.shape[-1])
        grown = np.exp(scores - scores.max())
        shares = grown / grown.sum()
        weights[row][keys] = shares
        output[row] = (shares * factors[row][keys]) @ v[lead][keys]
    return output, weights


def gradients(
    submission: Submission, case: Case, output_cotangent: Array | None, weights_cotangent: Any
) -> dict[str, Array]:
    """The submission's gradients to q, k and v; fails when one is missing."""
    found = submission.differentiate(
        output_cotangent=output_cotangent, weights_cotangent=weights_cotangent, **case.arguments
    )
    reached = dict(zip("qkv", assert_tuple(found, 3, "the gradients"), strict=True))
    missing = [f"`{name}`" for name, gradient in reached.items() if gradient is None]
    if weights_cotangent is not None and output_cotangent is None:
        missing = [name for name in missing if name != "`v`"]  # it is no part of the weights
    if missing:
        fail(f"No gradient reaches {', '.join(missing)}.")
    return reached


def expected_gradients(
    case: Case, output_cotangent: Array | None, weights_cotangent: Array | None
) -> dict[str, Array]:
    """The same by torch in float64; rows that see nothing send back nothing."""
    q, k, v = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in _three(case))
    visible = torch.tensor(case.visible)
    alive = visible.any(dim=-1, keepdim=True)
    # Values that are unit vectors come back as the weights themselves.
    unit = torch.eye(case.rows[-1], dtype=torch.float64).expand(*k.shape[:-1], -1)
    # Rows that see nothing are shown everything and then multiplied by zero.
    weights = torch_attention(q, k, unit, attn_mask=visible | ~alive) * alive
    output = weights * torch.from_numpy(_factors(case)) @ v
    pairs = ((output, output_cotangent), (weights, weights_cotangent))
    given = [(r, torch.tensor(c).double()) for r, c in pairs if c is not None]
    total = torch.stack([(result * cotangent).sum() for result, cotangent in given]).sum()
    found: Sequence[torch.Tensor | None] = torch.autograd.grad(total, (q, k, v), allow_unused=True)
    return {n: g.numpy() for n, g in zip("qkv", found, strict=True) if g is not None}


def pcg_numbers(seed: int, count: int) -> Iterator[float]:
    """The first `count` numbers of ``PCG32(seed)`` in [0, 1), from O'Neill's definition."""
    multiplier, remainder = 6364136223846793005, 2**64 - 1
    state = (seed + 1) * multiplier + 1  # with the increment 1 of stream 0
    for _ in range(count):
        state &= remainder
        mixed, turn = ((state >> 18 ^ state) >> 27) & 0xFFFFFFFF, state >> 59
        yield ((mixed >> turn | mixed << (-turn & 31)) & 0xFFFFFFFF) / 2**32
        state = state * multiplier + 1


def _factors(case: Case, drawn_before: int = 0) -> Array:
    """By what dropout multiplies each weight: 0 or 1 / (1 - dropout)."""
    if not case.drops or case.dropout is None or case.seed is None:
        return np.ones(case.rows)
    count = math.prod(case.rows)
    drawn = list(pcg_numbers(case.seed, drawn_before + count))[drawn_before:]
    return (np.reshape(drawn, case.rows) >= case.dropout) / (1 - case.dropout)


def _three(case: Case) -> tuple[Array, Array, Array]:
    return case.q, case.k, case.v
