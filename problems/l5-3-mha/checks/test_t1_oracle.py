"""T1: the numbers agree with a worked example, with torch and with plain numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle import (
    PROJECTIONS,
    Array,
    Case,
    assert_both,
    assert_gradients,
    attend,
    draw,
    expected,
    golden,
    softmax,
    visible,
    with_mask,
)

from judge.checks import Rng, Submission, assert_array, assert_close, check

# The example of the statement: one query, two keys; every projection is the identity.
QUERY = [1.0, 0.0, 0.0, 2.0]
KEYS = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 2.0]]
PRINTED = {"rtol": 0.0, "atol": 1e-6}  # the example is printed with six decimals


def _hand_example(heads: int) -> Case:
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"], state[f"{name}.bias"] = np.eye(4), np.zeros(4)
    return Case(heads, state, np.array([[QUERY]]), np.array([KEYS]))


@check(
    kind="unit",
    why="Layout and scale are agreed on with numbers that anybody can follow by hand.",
)
def test_hand_example_two_heads(submission: Submission) -> None:
    """The worked example gives 0.669762, 0.330238 in head 0 and 0.055807, 0.944193 in head 1."""
    output, weights = attend(submission, _hand_example(2))
    by_head = np.array([[[[0.669762, 0.330238]], [[0.055807, 0.944193]]]])
    assert_close(weights, by_head, "the weights of the two heads", **PRINTED)
    merged = np.array([[[0.669762, 0.330238, 0.0, 1.888386]]])
    assert_close(output, merged, "the merged heads", **PRINTED)


@check(
    kind="unit",
    why="What a single softmax cannot do is the reason why there are heads at all.",
)
def test_hand_example_one_head_mixes_everything(submission: Submission) -> None:
    """One head of width 4 gives 0.182426, 0.817574: what head 0 preferred is outvoted."""
    output, weights = attend(submission, _hand_example(1))
    one_head = np.array([[[[0.182426, 0.817574]]]])
    assert_close(weights, one_head, "the weights of the one head", **PRINTED)
    mixed = np.array([[[0.182426, 0.817574, 0.0, 1.635149]]])
    assert_close(output, mixed, "the output", **PRINTED)


@check(
    kind="golden",
    why="L5.5, L6.1 and L6.2 load weights that torch has trained, and must go on as torch does.",
)
def test_golden_torch(submission: Submission, rng: Rng) -> None:
    """Output, weights of each head and every gradient are those of torch's own module."""
    causal = np.tri(4, dtype=bool)
    itself = draw(rng, queries=4, keys=None, width=12, heads=3)
    across, each_head = draw(rng), draw(rng, queries=4, keys=4)
    cases = {
        "self-attention, causal and padded": with_mask(itself, causal & _padding(4, [4, 3])),
        "cross-attention with a mask for each head": with_mask(each_head, visible(rng, 2, 2, 4, 4)),
        "cross-attention, padded": with_mask(across, _padding(5, [2, 4])),
    }
    for name, case in cases.items():
        _assert_golden(submission, rng, case, f" ({name})")


def _padding(keys: int, lengths: list[int]) -> Array:
    """[B, 1, 1, keys]: each sequence shows as many keys as it is long."""
    return (np.arange(keys) < np.array(lengths)[:, None])[:, None, None]


def _assert_golden(submission: Submission, rng: Rng, case: Case, where: str) -> None:
    batch, queries, keys, width, heads = case.shape
    d_output = rng.numpy.standard_normal((batch, queries, width))
    d_weights = rng.numpy.standard_normal((batch, heads, queries, keys))
    right_output, right_weights, right_gradients = golden(case, d_output, d_weights)
    output, weights = attend(submission, case)
    assert_close(weights, right_weights, f"the weights{where}")
    assert_close(output, right_output, f"the output{where}")
    found = submission.gradients(*case.arguments, d_output, d_weights)
    assert_gradients(found, right_gradients, where)


@check(
    kind="differential",
    why="Two definitions that were written apart rarely share a mistake.",
)
def test_one_head_is_projected_attention(submission: Submission, rng: Rng) -> None:
    """With H = 1 the module is plain attention between its own projections."""
    drawn = submission.parameters({"d_model": 8, "n_heads": 1}, rng.integer(1, 2**31))
    state = {name: np.asarray(values, np.float64) for name, values in drawn.items()}
    case = with_mask(replace(draw(rng, heads=1), state=state), visible(rng, 3, 5))
    output, weights = attend(submission, case)
    q, k, v = (
        x @ state[f"{name}.weight"].T + state[f"{name}.bias"]
        for x, name in zip((case.x_q, case.keys, case.keys), PROJECTIONS, strict=False)
    )
    right = softmax(q @ k.swapaxes(1, 2) / 8**0.5, case.mask)
    assert_close(weights, right[:, None], "the weights")
    mixed = right @ v @ state["out_proj.weight"].T + state["out_proj.bias"]
    assert_close(output, mixed, "the output")


@check(
    kind="differential",
    why="Layers call the module, not attend; both have to be the same attention.",
)
def test_forward_is_the_output_of_attend(submission: Submission, rng: Rng) -> None:
    """Calling the module gives the output alone, for one sequence and for two, mask included."""
    masked = with_mask(draw(rng), visible(rng, 2, 1, 3, 5))
    itself = with_mask(draw(rng, keys=None), visible(rng, 3, 3))
    for case in (masked, itself):
        found = submission.forward(*case.arguments)
        assert_array(found, "the output", shape=case.x_q.shape, dtype=np.float64)
        assert_close(found, expected(case)[0], "the output")


@check(
    kind="oracle",
    why="A formula that holds for one size only has a size written into it.",
)
def test_sizes_nobody_chose(submission: Submission, rng: Rng) -> None:
    """Output and weights agree for sizes drawn anew for each submission, in float64 and float32."""
    heads, own = rng.integer(2, 6), rng.integer(2, 8)
    for dtype in (np.float64, np.float32):
        case = draw(
            rng,
            batch=rng.integer(2, 5),
            queries=rng.integer(6, 13),
            keys=rng.integer(13, 20),
            width=heads * own,
            heads=heads,
            dtype=dtype,
        )
        assert_both(submission, case, f" in {np.dtype(dtype).name}")
