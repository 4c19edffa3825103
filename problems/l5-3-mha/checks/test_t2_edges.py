"""T2: gradients, the layout of the heads, masks, dropout and packed weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from frozen import GRADIENTS, KEPT, frozen_case
from oracle import (
    NAMES,
    PROJECTIONS,
    Array,
    Case,
    assert_both,
    assert_gradients,
    attend,
    different_in_each_sequence,
    draw,
    expected,
    visible,
    with_mask,
    with_state,
)

from judge.checks import (
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_equal,
    assert_finite,
    assert_unchanged,
    assert_zero_where,
    check,
    fail,
)

DROPOUT = 0.5


# --- gradients ------------------------------------------------------------------------------------


@check(
    kind="gradcheck",
    why="Every model of the course trains through this backward pass.",
)
def test_gradcheck_inputs_and_parameters(submission: Submission) -> None:
    """Gradients to both inputs and all eight parameters agree with central differences."""
    case, d_output, d_weights = frozen_case()
    found = submission.gradients(*case.arguments, d_output, d_weights)
    assert_gradients(found, GRADIENTS)


# --- the layout of the heads ----------------------------------------------------------------------


@check(
    kind="property",
    why="While each head keeps to its slice, positions stay apart; a plain reshape mixes them.",
)
def test_split_and_merge_layout(submission: Submission, rng: Rng) -> None:
    """Head h owns the features [h*dh, (h+1)*dh) at every position, and merge undoes split."""
    options = {"d_model": 8, "n_heads": 4}
    x = rng.numpy.standard_normal((2, 3, 8))
    owned = np.stack([x[:, :, 2 * head : 2 * head + 2] for head in range(4)], axis=1)
    assert_equal(submission.split_heads(options, x), owned, "the split heads")
    assert_equal(submission.merge_heads(options, owned), x, "the merged heads")
    assert_equal(submission.split_and_merge(options, x), x, "what was split and then merged")


@check(
    kind="property",
    why="Heads are separate subspaces: what one of them learns must not disturb another.",
)
def test_heads_are_independent(submission: Submission, rng: Rng) -> None:
    """Editing the rows of q_proj.weight that head 1 owns leaves head 0 as it was, bit for bit."""
    case = with_state(draw(rng), out_proj_weight=np.eye(8), out_proj_bias=np.zeros(8))
    edited = case.state["q_proj.weight"].copy()
    edited[4:] += rng.numpy.standard_normal((4, 8))
    output, weights = assert_both(submission, case)
    moved_output, moved_weights = attend(submission, with_state(case, q_proj_weight=edited))
    assert_equal(moved_weights[:, 0], weights[:, 0], "the weights of head 0")
    assert_equal(moved_output[..., :4], output[..., :4], "the features of head 0")
    if np.array_equal(moved_weights[:, 1], weights[:, 1]):
        fail("The weights of head 1 did not change, although its own rows did.")


# --- masks ----------------------------------------------------------------------------------------


@check(
    kind="property",
    why="Decoders join a causal mask and a padding mask, and these come in different shapes.",
)
def test_mask_shapes_agree(submission: Submission, rng: Rng) -> None:
    """[Tq, Tk], [B, Tq, Tk] and [B, 1, 1, Tk] mean the same where they say the same, with B = H."""
    case = draw(rng, queries=5, keys=5)
    causal = np.tri(5, dtype=bool)
    # The first key is visible to both, so that no query sees nothing.
    padding = np.array([[1, 1, 0, 1, 0], [1, 0, 1, 0, 1]], dtype=bool)
    for name, shapes in {
        "causal": [causal, np.stack([causal] * 2), causal[None, None]],
        "padding": [padding[:, None, None], np.stack([padding] * 5, axis=1)],
        "both": [(causal & padding[:, None])[:, None], causal & padding[:, None]],
    }.items():
        for mask in shapes:
            where = f" ({name}, as a mask of shape {list(mask.shape)})"
            assert_both(submission, with_mask(case, mask), where)


@check(
    kind="unit",
    why="What head_mask returns goes to attention as it is, where a wrong axis is no error.",
)
def test_head_mask_gives_every_sequence_its_own(submission: Submission, rng: Rng) -> None:
    """head_mask returns a boolean mask that numpy expands to [B, H, Tq, Tk], or None for None."""
    options = {"d_model": 8, "n_heads": 2}
    each = different_in_each_sequence(rng, 3, 5)
    shared, by_head = visible(rng, 3, 5), visible(rng, 2, 2, 3, 5)
    for mask, right in [
        (shared, shared),
        (shared[0], shared[0]),
        (each, each[:, None]),
        (each[:, None, :1], each[:, None, :1]),
        (by_head, by_head),
        (by_head[:1], by_head[:1]),
    ]:
        seen = submission.observe("head_mask", options, mask, 2, 3, 5)
        assert_unchanged(seen)
        what = f"`head_mask` of a mask of shape {list(mask.shape)}, expanded"
        found = _expanded(seen.value, (2, 2, 3, 5), what)
        assert_equal(found, np.broadcast_to(right, (2, 2, 3, 5)), what)
    if submission.head_mask(options, None, 2, 3, 5) is not None:
        fail("`head_mask` of None: expected None.")


def _expanded(mask: object, shape: tuple[int, ...], what: str) -> object:
    """`mask` as numpy expands it; as it is where that cannot be, for the comparison to refuse."""
    if not isinstance(mask, np.ndarray):
        return mask
    try:
        return np.broadcast_to(mask, shape).copy()
    except ValueError:
        return fail(f"{what}: shape {list(mask.shape)} does not expand to {list(shape)}.")


@check(
    kind="property",
    why="Every batch has padding, and what stands there is arbitrary.",
)
def test_masked_keys_are_never_read(submission: Submission, rng: Rng) -> None:
    """The weight of a hidden key is exactly zero, and its value changes nothing."""
    case = with_mask(draw(rng), np.array([True, False, True, True, False])[None])
    output, weights = assert_both(submission, case)
    hidden = ~np.broadcast_to(case.mask, weights.shape)
    assert_zero_where(weights, hidden, "the weight of a hidden key")
    other = case.keys.copy()
    other[:, [1, 4]] = 100 * rng.numpy.standard_normal((2, 2, 8))
    moved_output, moved_weights = attend(submission, replace(case, x_kv=other))
    assert_zero_where(moved_weights, hidden, "the weight of a hidden key")
    assert_close(moved_output, output, "the output with other numbers at hidden keys")


@check(
    kind="edge",
    why="A sequence of padding alone would otherwise fill the whole batch with NaN.",
)
def test_row_that_sees_nothing_gives_zeros(submission: Submission, rng: Rng) -> None:
    """A row that sees nothing has zero weights and context: its output is out_proj's bias."""
    mask = visible(rng, 2, 2, 3, 5)
    mask[0, :, 1], mask[1, 0, 2] = False, False
    case = with_mask(draw(rng), mask)
    output, weights = assert_both(submission, case)
    assert_zero_where(weights, ~mask.any(axis=-1, keepdims=True), "the weight in that row")
    assert_close(output[0, 1], case.state["out_proj.bias"], "the output of that row")
    d_output, d_weights = (rng.numpy.standard_normal(each.shape) for each in (output, weights))
    found = submission.gradients(*case.arguments, d_output, d_weights)
    for name in ("x_q", "x_kv", *NAMES):
        assert_finite(found.get(name), f"the gradient to `{name}`")
    # Where one head still sees something the query is still read; where none does it is not.
    row = found["x_q"][0, 1]
    assert_zero_where(row, np.ones(8, bool), "the gradient to the query that sees nothing")


# --- two sequences --------------------------------------------------------------------------------


@check(
    kind="property",
    why="The decoder of L5.5 asks the encoder: its queries are its own, keys and values are not.",
)
def test_cross_attention_reads_keys_from_x_kv(submission: Submission, rng: Rng) -> None:
    """Rows follow x_q; keys are a set, so moving them together with their mask changes nothing."""
    for queries, keys in [(3, 5), (4, 4)]:
        case = with_mask(draw(rng, queries=queries, keys=keys), visible(rng, 2, 1, queries, keys))
        output, weights = assert_both(submission, case)
        order = rng.permutation(keys).numpy()
        moved = replace(case, x_kv=case.keys[:, order], mask=case.mask[..., order])
        moved_output, moved_weights = attend(submission, moved)
        assert_close(moved_output, output, "the output after x_kv was permuted")
        assert_close(moved_weights, weights[..., order], "the weights after x_kv was permuted")
        order = rng.permutation(queries).numpy()
        moved = replace(case, x_q=case.x_q[:, order], mask=case.mask[:, :, order])
        moved_output, moved_weights = attend(submission, moved)
        assert_close(moved_output, output[:, order], "the output after x_q was permuted")
        assert_close(moved_weights, weights[:, :, order], "the weights after x_q was permuted")


# --- dropout --------------------------------------------------------------------------------------


@check(
    kind="unit",
    why="Decoding has to be repeatable; randomness at evaluation looks like a noisy model.",
)
def test_dropout_only_in_training(submission: Submission, rng: Rng) -> None:
    """In eval a module with dropout does what one without does, also after a step of training."""
    case = draw(rng, batch=1, keys=None)
    options = {**case.options, "dropout": DROPOUT}
    outputs = submission.run(options, case.state, case.x_q, ["eval", "train", "eval"])
    right = expected(case)[0]
    assert_close(outputs[0], right, "the output in eval")
    assert_close(outputs[2], right, "the output in eval after a step of training")
    assert_array(outputs[1], "the output in training", shape=right.shape, dtype=right.dtype)
    if np.allclose(outputs[1], right):
        fail("Training with dropout gave what eval gives.")


@check(
    kind="unit",
    why="A training run can be repeated only if its random numbers come from a known stream.",
)
def test_dropout_draws_from_its_own_stream(submission: Submission, rng: Rng) -> None:
    """Training drops weights by PCG32(0).substream("dropout") and goes on in it call by call."""
    case = draw(rng, batch=1, keys=None)
    options = {**case.options, "dropout": DROPOUT}
    outputs = submission.run(options, case.state, case.x_q, ["train", "eval", "train"])
    kept = np.array([int(each) for each in KEPT]).reshape(2, 1, 2, 3, 3) / (1 - DROPOUT)
    assert_close(outputs[0], expected(case, kept[0])[0], "the output of the first call")
    assert_close(outputs[2], expected(case, kept[1])[0], "the output of the second call")


# --- packed weights -------------------------------------------------------------------------------


@check(
    kind="unit",
    why="L5.5 compares whole layers with torch, which keeps the three projections in one array.",
)
def test_load_packed_in_proj(submission: Submission, rng: Rng) -> None:
    """Rows of the packed arrays go to q, k and v in this order; all other numbers stay."""
    for is_biased in (True, False):
        case, packed = draw(rng, bias=is_biased), draw(rng, bias=is_biased).state
        weight, bias = (_packed(packed, part) for part in ("weight", "bias"))
        after = submission.load_packed(case.options, case.state, weight, bias)
        _assert_state(after, {**packed, **_part(case, "out_proj.")})
    case, packed = draw(rng), draw(rng).state
    after = submission.load_packed(case.options, case.state, _packed(packed, "weight"))
    weights = {name: packed[name] for name in NAMES[:6:2]}
    _assert_state(after, {**case.state, **weights}, " after a call without bias")


def _packed(state: dict[str, Array], part: str) -> Array | None:
    parts = [state[f"{name}.{part}"] for name in PROJECTIONS[:3] if f"{name}.{part}" in state]
    return np.concatenate(parts) if parts else None


def _part(case: Case, prefix: str) -> dict[str, Array]:
    return {name: values for name, values in case.state.items() if name.startswith(prefix)}


def _assert_state(found: dict[str, object], wanted: dict[str, Array], where: str = "") -> None:
    if list(found) != list(wanted):
        fail(f"The parameters{where}: expected {', '.join(wanted)}; found {', '.join(found)}.")
    for name, values in wanted.items():
        assert_equal(found[name], values, f"`{name}`{where}")


# --- sizes ----------------------------------------------------------------------------------------


@check(
    kind="edge",
    why="An axis of length one is still an axis: generating text begins with a single token.",
)
def test_axes_of_length_one(submission: Submission, rng: Rng) -> None:
    """One sequence, one query, one key, or one feature in each head give the right numbers."""
    for name, case in {
        "one sequence": draw(rng, batch=1),
        "one query": draw(rng, queries=1),
        "one key": draw(rng, keys=1),
        "one feature in each head": draw(rng, width=6, heads=6),
        "one of everything": draw(rng, batch=1, queries=1, keys=None, width=1, heads=1),
    }.items():
        assert_both(submission, case, f" with {name}")


@check(
    kind="edge",
    why="Models like Llama leave all biases out.",
)
def test_module_without_biases(submission: Submission, rng: Rng) -> None:
    """With bias=False output and weights agree too."""
    assert_both(submission, draw(rng, bias=False))
