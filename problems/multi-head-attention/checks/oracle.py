"""Cases, and what they should give: computed one head at a time, in float64, without the kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch.nn.functional import scaled_dot_product_attention

from judge.checks import Rng, Submission, assert_array, assert_tuple, assert_unchanged

FUNCTION = "multi_head_attention"
NAMES = ("query", "key", "value", "w_q", "w_k", "w_v", "w_o")
Pair = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """The arguments of one call, in the order of the signature."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    w_q: torch.Tensor
    w_k: torch.Tensor
    w_v: torch.Tensor
    w_o: torch.Tensor
    num_heads: int
    mask: torch.Tensor | None = None

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The seven floating tensors by name."""
        return {name: getattr(self, name) for name in NAMES}

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """B, Q, K, D, H."""
        batch, queries, width = self.query.shape
        return batch, queries, self.key.shape[1], width, self.num_heads

    @property
    def arguments(self) -> dict[str, object]:
        """All nine, as keyword arguments."""
        return {**self.tensors, "num_heads": self.num_heads, "mask": self.mask}


def draw(
    rng: Rng,
    *,
    batch: int = 2,
    queries: int = 3,
    keys: int = 5,
    width: int = 8,
    heads: int = 2,
    dtype: torch.dtype = torch.float64,
    requires_grad: bool = False,
) -> Case:
    """A random case; projections have standard deviation 1/sqrt(D), so nothing grows or fades.

    All seven are drawn at once and lie side by side in memory, which is quicker to send.
    """
    shapes = [(batch, queries, width), *[(batch, keys, width)] * 2, *[(width, width)] * 4]
    sizes = [math.prod(shape) for shape in shapes]
    numbers = rng.normal(sum(sizes), dtype=dtype)
    numbers[-4 * width**2 :].mul_(width**-0.5)
    parts = zip(numbers.split_with_sizes(sizes), shapes, strict=True)
    seven = [part.view(shape).requires_grad_(requires_grad) for part, shape in parts]
    return Case(*seven, num_heads=heads)


def attend(submission: Submission, case: Case) -> Pair:
    """The submission's answer, once it has the right form and every input is as it was."""
    arguments = (*case.tensors.values(), case.num_heads)
    if case.mask is not None:
        arguments = (*arguments, case.mask)
    observation = submission.observe(FUNCTION, *arguments)
    assert_unchanged(observation)
    return checked_pair(observation.value, case)


def checked_pair(result: object, case: Case) -> Pair:
    """`result` as (output, weights), both of the shape and dtype that the case asks for."""
    output, weights = assert_tuple(result, 2)
    batch, queries, keys, width, heads = case.shape
    dtype = case.query.dtype
    assert_array(output, "the output", shape=(batch, queries, width), dtype=dtype)
    assert_array(weights, "the weights", shape=(batch, heads, queries, keys), dtype=dtype)
    return output, weights


def expected(case: Case) -> Pair:
    """Output and weights in float64, connected to the case's tensors where those ask for it."""
    batch, _, keys, _, heads = case.shape
    query, key, value, w_q, w_k, w_v, w_o = (t.double() for t in case.tensors.values())
    # Values that are unit vectors come back as the weights themselves.
    identity = torch.eye(keys, dtype=torch.float64).expand(batch, keys, keys)
    masks, alive = _visible(case)
    own_columns = (w.chunk(heads, dim=1) for w in (w_q, w_k, w_v))
    mixed, weights = [], []
    for head, (own_q, own_k, own_v) in enumerate(zip(*own_columns, strict=True)):
        found = scaled_dot_product_attention(query @ own_q, key @ own_k, identity, masks[head])
        weights.append(found if alive is None else found * alive[head])
        mixed.append(weights[-1] @ (value @ own_v))
    return torch.cat(mixed, dim=-1) @ w_o, torch.stack(weights, dim=1)


def with_mask(case: Case, mask: torch.Tensor) -> Case:
    """The same case with a mask."""
    return replace(case, mask=mask)


def _visible(
    case: Case,
) -> tuple[Sequence[torch.Tensor | None], Sequence[torch.Tensor] | None]:
    """What each head sees, [B,Q,K], and a factor that is 0 where it sees nothing, [B,Q,1].

    Rows that see nothing are shown everything and then multiplied by zero, so that values and
    gradients are zero there whatever the library does with such rows.
    """
    batch, queries, keys, _, heads = case.shape
    if case.mask is None:
        return [None] * heads, None
    mask = case.mask.expand(batch, heads, queries, keys)
    alive = mask.any(dim=-1, keepdim=True)
    if alive.all():
        return mask.unbind(dim=1), None
    return (mask | ~alive).unbind(dim=1), alive.double().unbind(dim=1)
