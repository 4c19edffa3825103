"""T1: the numbers agree with `nn.MultiheadAttention`, given the same weights and biases."""

from __future__ import annotations

import torch
from oracle import assert_agrees, draw

from judge.checks import Rng, Submission, check

SIZES = [  # B, T, D, H, causal
    (2, 4, 6, 2, False),
    (3, 7, 20, 4, True),
    (2, 10, 32, 8, True),
]


@check(
    kind="oracle",
    why="This is the layer of an encoder; the causal one differs by its mask alone.",
)
def test_all_tokens_see_each_other(submission: Submission, rng: Rng) -> None:
    """Without `causal`, the output agrees with PyTorch's own module, given the same weights."""
    assert_agrees(submission, draw(rng), causal=False)


@check(
    kind="oracle",
    why="Language models predict each next token from the tokens up to it, and no others.",
)
def test_causal(submission: Submission, rng: Rng) -> None:
    """With `causal`, the output agrees with PyTorch's own module under a causal mask."""
    assert_agrees(submission, draw(rng), causal=True)


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_several_sizes(submission: Submission, rng: Rng) -> None:
    """The output agrees for several lengths, widths and numbers of heads."""
    for batch, length, width, heads, causal in SIZES:
        case = draw(rng, batch=batch, length=length, width=width, heads=heads)
        where = f" at T={length}, d_model={width}, H={heads}"
        assert_agrees(submission, case, causal=causal, where=where)


@check(
    kind="oracle",
    why="Nobody tells a layer beforehand how long a sequence will be.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """The output agrees for sizes that are drawn anew for each submission."""
    heads, width = rng.integer(2, 7), rng.integer(3, 10)
    batch, length = rng.integer(2, 6), rng.integer(11, 25)
    case = draw(rng, batch=batch, length=length, width=heads * width, heads=heads)
    for causal in (False, True):
        assert_agrees(submission, case, causal=causal)


@check(
    kind="oracle",
    why="Models are trained in float32; the same formula has to hold in its precision.",
)
def test_float32(submission: Submission, rng: Rng) -> None:
    """The output agrees in float32, within its precision, with and without `causal`."""
    case = draw(rng, width=24, heads=4, dtype=torch.float32)
    for causal in (False, True):
        assert_agrees(submission, case, causal=causal)
