"""Cases, and what they should give: by the library's attention, and by loops, in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch.nn.functional import scaled_dot_product_attention

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_tuple,
    assert_unchanged,
    gradients,
)

FUNCTION = "attention_kernel"
NAMES = ("q", "k", "v")
OUTPUT, WEIGHTS = 0, 1
KEYS = 5  # of a case that nobody asks to be otherwise; prime, so that no mask is its own rotation
Pair = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """The arguments of one call, in the order of the signature."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    mask: torch.Tensor | None = None

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The three floating tensors by name."""
        return {"q": self.q, "k": self.k, "v": self.v}

    @property
    def rows(self) -> tuple[int, ...]:
        """B, H, Q, K: the shape of the weights."""
        return (*self.q.shape[:-1], self.k.shape[-2])


def draw(
    rng: Rng,
    *,
    batch: int = 2,
    heads: int = 3,
    queries: int = 3,
    keys: int = KEYS,
    width: int = 4,
    value_width: int = 6,
    dtype: torch.dtype = torch.float64,
    requires_grad: bool = False,
) -> Case:
    """A random case of unit normal numbers; the width of the values is not that of the keys.

    All three are drawn at once and lie side by side in memory, which is quicker to send.
    """
    lead = (batch, heads)
    shapes = [(*lead, queries, width), (*lead, keys, width), (*lead, keys, value_width)]
    sizes = [math.prod(shape) for shape in shapes]
    parts = rng.normal(sum(sizes), dtype=dtype).split_with_sizes(sizes)
    three = zip(parts, shapes, strict=True)
    return Case(*(part.view(shape).requires_grad_(requires_grad) for part, shape in three))


def draw_mask(rng: Rng, batch: int = 1, heads: int = 1, queries: int = 1) -> torch.Tensor:
    """[batch, heads, queries, KEYS]: one random row, turned by a different step for each index.

    Every row shows a key and hides one, and no two rows along an axis are alike.
    """
    row = rng.visible(KEYS)
    steps = (
        torch.arange(batch)[:, None, None]
        + 2 * torch.arange(heads)[:, None]
        + 3 * torch.arange(queries)
    )
    return row[(torch.arange(KEYS) - steps[..., None]) % KEYS]


def with_mask(case: Case, mask: torch.Tensor) -> Case:
    """The same case with a mask."""
    return replace(case, mask=mask)


def attend(submission: Submission, case: Case) -> Pair:
    """The submission's answer, once it has the right form and every input is as it was."""
    arguments = (*case.tensors.values(), *(() if case.mask is None else (case.mask,)))
    observation = submission.observe(FUNCTION, *arguments)
    assert_unchanged(observation)
    return checked_pair(observation.value, case)


def checked_pair(result: object, case: Case) -> Pair:
    """`result` as (output, weights), both of the shape and dtype that the case asks for."""
    output, weights = assert_tuple(result, 2)
    dtype = case.q.dtype
    wide = (*case.rows[:-1], case.v.shape[-1])
    assert_array(output, "the output", shape=wide, dtype=dtype)
    assert_array(weights, "the weights", shape=case.rows, dtype=dtype)
    return output, weights


def assert_both(
    submission: Submission, case: Case, where: str = "", right: Pair | None = None
) -> None:
    """Weights and output are those of the oracle, or `right` where that is known otherwise."""
    output, weights = attend(submission, case)
    right_output, right_weights = right or expected(case)
    dtype = case.q.dtype
    assert_close(weights, right_weights, f"the weights{where}", dtype=dtype)
    assert_close(output, right_output, f"the output{where}", dtype=dtype)


def assert_gradients(
    submission: Submission,
    rng: Rng,
    case: Case,
    *,
    of: Sequence[int] = (OUTPUT, WEIGHTS),
    to: Sequence[str] = NAMES,
) -> None:
    """Gradients of the results `of` to the inputs `to` agree, for random cotangents."""
    results, right = attend(submission, case), expected(case)
    cotangents = [rng.normal(*right[index].shape) for index in of]
    inputs = {name: case.tensors[name] for name in to}
    dtype = case.q.dtype
    found = gradients([results[index] for index in of], inputs, [c.to(dtype) for c in cotangents])
    wanted = torch.autograd.grad([right[index] for index in of], list(inputs.values()), cotangents)
    for name, want in zip(to, wanted, strict=True):
        what = f"the gradient to {name}"
        assert_close(found[name], want.double(), what, gradient=True, dtype=dtype)


# --- what is right --------------------------------------------------------------------------------


def expected(case: Case) -> Pair:
    """Output and weights in float64, connected to the case's tensors where those ask for it.

    Values that are unit vectors come back as the weights themselves. Rows that see nothing are
    shown everything and then multiplied by zero, so that values and gradients are zero there
    whatever the library does with such rows.
    """
    q, k, v = (tensor.double() for tensor in case.tensors.values())
    mask, alive = None, None
    if case.mask is not None:
        alive = case.mask.expand(case.rows).any(dim=-1, keepdim=True)
        mask = case.mask | ~alive
    keys = case.rows[-1]
    unit = torch.eye(keys, dtype=torch.float64).expand(*k.shape[:-1], keys)
    weights = scaled_dot_product_attention(q, k, unit, mask)
    if alive is not None:
        weights = weights * alive
    return weights @ v, weights


def by_loops(case: Case) -> Pair:
    """Output and weights in float64, one query at a time, in plain Python; without a mask."""
    q, k, v = (tensor.double().tolist() for tensor in case.tensors.values())
    output = torch.zeros(*case.rows[:-1], case.v.shape[-1], dtype=torch.float64)
    weights = torch.zeros(case.rows, dtype=torch.float64)
    batch, heads, queries, keys = case.rows
    for b, h, i in ((b, h, i) for b in range(batch) for h in range(heads) for i in range(queries)):
        products = [sum(x * y for x, y in zip(q[b][h][i], key, strict=True)) for key in k[b][h]]
        grown = [math.exp(product / math.sqrt(len(q[b][h][i]))) for product in products]
        for j in range(keys):
            share = grown[j] / math.fsum(grown)
            weights[b, h, i, j] = share
            output[b, h, i] += share * torch.tensor(v[b][h][j], dtype=torch.float64)
    return output, weights
