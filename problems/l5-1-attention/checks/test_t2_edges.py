"""T2: masks, rows that see nothing, large scores, gradients, dropout and unusual layouts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from oracle import (
    Array,
    Case,
    assert_both,
    attend,
    checked_pair,
    draw,
    draw_mask,
    expected,
    expected_gradients,
    gradients,
    pcg_numbers,
)

from judge.checks import (
    Rng,
    Submission,
    assert_close,
    assert_finite,
    assert_zero_where,
    check,
)

LARGE = 1e3


def _different_in_each_sequence(rng: Rng, queries: int = 3) -> Array:
    """[2, queries, 5]: sequence 1 sees other keys than sequence 0, in every row."""
    first = draw_mask(rng, queries, 5)
    return np.stack([first, np.roll(first, 1, axis=-1)])


def _cotangents(rng: Rng, case: Case) -> tuple[Array, Array]:
    shapes = (*case.q.shape[:-1], case.v.shape[-1]), case.rows
    output, weights = (rng.numpy.normal(size=shape).astype(case.q.dtype) for shape in shapes)
    return output, weights


def _assert_gradients(
    submission: Submission, case: Case, output: Array | None, weights: Array | None
) -> None:
    """The gradients with these cotangents are torch's."""
    found = gradients(submission, case, output, weights)
    for name, right in expected_gradients(case, output, weights).items():
        what = f"the gradient to {name}"
        assert_close(found[name], right, what, gradient=True, dtype=case.q.dtype.type)


def _formula(case: Case) -> tuple[Array, Array]:
    """Output and weights, as the page writes them: for small scores, where all rows see."""
    grown = case.visible * np.exp(case.q @ case.k.swapaxes(-1, -2) / math.sqrt(case.q.shape[-1]))
    weights = grown / grown.sum(axis=-1, keepdims=True)
    return weights @ case.v, weights


# --- masks ----------------------------------------------------------------------------------------


@check(
    kind="edge",
    why="Padding, causality, or both: each comes in its natural shape, smaller than the scores.",
)
def test_masks_of_every_shape(submission: Submission, rng: Rng) -> None:
    """Masks [Tk], [Tq, Tk], [B, 1, Tk] and [B, Tq, Tk] hide what broadcasting says."""
    case = draw(rng)
    masks = [
        draw_mask(rng, 5),
        draw_mask(rng, 3, 5),
        _different_in_each_sequence(rng, 1),
        _different_in_each_sequence(rng),
    ]
    for mask in masks:
        assert_both(submission, replace(case, mask=mask), f" with a mask {list(mask.shape)}")


@check(
    kind="edge",
    why="Multi-head attention hands over [B, H, T, d], with one mask per sequence or per head.",
)
def test_masks_with_heads(submission: Submission, rng: Rng) -> None:
    """With axes [B, H, T, d], masks [B, 1, 1, Tk] and [B, H, Tq, Tk] hold where they say."""
    case = draw(rng, 2, 2)
    padding = _different_in_each_sequence(rng, 1)[:, None]
    own = np.stack([_different_in_each_sequence(rng), ~_different_in_each_sequence(rng)])
    for mask in (padding, own):
        assert_both(submission, replace(case, mask=mask), f" with a mask {list(mask.shape)}")


@check(
    kind="property",
    why="A little weight on a hidden key lets padding, or the future, leak in.",
)
def test_hidden_keys_have_weight_zero_and_the_rest_totals_one(
    submission: Submission, rng: Rng
) -> None:
    """The weight of a hidden key is exactly zero, and visible weights add up to one."""
    mask = _different_in_each_sequence(rng)
    _, weights = attend(submission, draw(rng, mask=mask))
    assert_zero_where(weights, ~mask, "the weight of a hidden key")
    assert_close(weights.sum(axis=-1), np.ones((2, 3)), "the total of a row")


@check(
    kind="property",
    why="Training predicts every next token at once; one look ahead and the loss means nothing.",
)
def test_what_is_hidden_makes_no_difference(submission: Submission, rng: Rng) -> None:
    """Under a causal mask, other keys and values later on leave earlier outputs as they were."""
    case = draw(rng, queries=5, mask=np.tri(5, dtype=bool))
    right, _ = expected(case)
    k, v = case.k.copy(), case.v.copy()
    k[:, 3:], v[:, 3:] = 50 * k[:, 3:], 1e6
    after, _ = attend(submission, replace(case, k=k, v=v))
    assert_close(after[:, :3], right[:, :3], "the output of the first three queries")


# --- rows that see nothing ------------------------------------------------------------------------


@check(
    kind="edge",
    why="Batches are filled up with padding; NaN there would spread through the whole model.",
)
def test_row_that_sees_nothing(submission: Submission, rng: Rng) -> None:
    """A query, or a whole sequence, that sees nothing gets exactly zeros; the others are right."""
    mask = _different_in_each_sequence(rng)
    mask[1, 0] = False
    case = draw(rng, mask=mask)
    output, weights = attend(submission, case)
    everywhere = np.array([True])
    assert_zero_where(weights[1, 0], everywhere, "the weights of that query")
    assert_zero_where(output[1, 0], everywhere, "the output of that query")
    assert_both(submission, case)
    some_queries = np.array([[True], [False], [True]])
    some_sequences = np.stack([np.zeros((1, 5), bool), draw_mask(rng, 1, 5)])
    for each in (some_queries, some_sequences):
        assert_both(submission, replace(case, mask=each), f" with a mask {list(each.shape)}")


@check(
    kind="gradient",
    why="A NaN that is patched after the softmax is gone from the loss, not from the gradients.",
)
def test_gradients_with_a_row_that_sees_nothing(submission: Submission, rng: Rng) -> None:
    """Gradients stay finite when a row sees nothing, and none flows through that row."""
    mask = _different_in_each_sequence(rng)
    mask[0, 1] = False
    case = draw(rng, mask=mask)
    cotangents = _cotangents(rng, case)
    found = gradients(submission, case, *cotangents)
    for name, gradient in found.items():
        assert_finite(gradient, f"the gradient to {name}")
    assert_zero_where(found["q"][0, 1], np.array([True]), "the gradient to that query")
    for name, right in expected_gradients(case, *cotangents).items():
        assert_close(found[name], right, f"the gradient to {name}", gradient=True)


# --- large scores ---------------------------------------------------------------------------------


def _with_large_scores(rng: Rng) -> Case:
    """Scores of query 0: 1000 with key 1, -1000 with key 2, 999 with key 3."""
    case = draw(rng)
    q, k = case.q.copy(), case.k.copy()
    q[:, 0] = 1.0
    for key, score in ((1, LARGE), (2, -LARGE), (3, LARGE - 1)):
        k[:, key] = score / 2  # the product adds four of these and is halved
    return replace(case, q=q, k=k)


@check(
    kind="edge",
    why="exp(1000) is infinite in every float; a stable softmax never computes it.",
)
def test_large_scores(submission: Submission, rng: Rng) -> None:
    """Scores of 1000 and -1000 give finite, right results."""
    assert_both(submission, _with_large_scores(rng))


@check(
    kind="edge",
    why="A hidden score takes no part at all, also where it is the largest by far.",
)
def test_large_scores_behind_the_mask(submission: Submission, rng: Rng) -> None:
    """A very large score that is hidden does not disturb the visible ones, nor does a small one."""
    case = _with_large_scores(rng)
    for mask in ([True, False, True, False, True], [False, False, True, False, False]):
        assert_both(submission, replace(case, mask=np.array(mask)))


# --- gradients ------------------------------------------------------------------------------------


@check(
    kind="gradient",
    why="Training is nothing but gradients: each input needs its own.",
)
def test_gradients_of_both_results(submission: Submission, rng: Rng) -> None:
    """The gradients of both results reach q, k and v and agree with torch, with heads, too."""
    case = draw(rng)
    _assert_gradients(submission, case, *_cotangents(rng, case))
    masked = draw(rng, 2, 2, mask=_different_in_each_sequence(rng, 1)[:, None])
    _assert_gradients(submission, masked, *_cotangents(rng, masked))


@check(
    kind="gradient",
    why="A loss on the weights (sparsity, alignment) works only while they are connected.",
)
def test_gradients_of_the_weights(submission: Submission, rng: Rng) -> None:
    """The gradients of the weights alone reach q and k and agree."""
    case = draw(rng, mask=draw_mask(rng, 3, 5))
    _assert_gradients(submission, case, None, _cotangents(rng, case)[1])


@check(
    kind="gradient",
    why="A difference quotient needs no theory: it cannot be wrong in the same way as a formula.",
)
def test_gradients_are_slopes(submission: Submission, rng: Rng) -> None:
    """Every entry of every gradient agrees with a central difference of the formula."""
    case = draw(rng, 1, queries=2, keys=3, width=2, value_width=1)
    case = replace(case, mask=np.array([[True, True, False], [True, True, True]]))
    cotangents = _cotangents(rng, case)
    found = gradients(submission, case, *cotangents)
    for name in "qkv":
        array = getattr(case, name)
        slopes = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            totals = []
            for step in (1e-5, -1e-5):
                moved = array.copy()
                moved[at] += step
                results = _formula(replace(case, **{name: moved}))
                pairs = zip(results, cotangents, strict=True)
                totals.append(sum(float((r * c).sum()) for r, c in pairs))
            slopes[at] = (totals[0] - totals[1]) / 2e-5
        what = f"the gradient to {name}"
        assert_close(found[name], slopes, what, rtol=1e-6, atol=1e-7)


@check(
    kind="gradient",
    why="float32 is what training runs in.",
)
def test_gradients_in_float32(submission: Submission, rng: Rng) -> None:
    """The gradients agree in float32, within its precision, and are float32."""
    case = draw(rng, dtype=np.float32, mask=_different_in_each_sequence(rng))
    _assert_gradients(submission, case, *_cotangents(rng, case))


@check(
    kind="gradient",
    why="In self-attention one tensor plays three parts and gets the gradients of all three.",
)
def test_one_tensor_in_three_places(submission: Submission, rng: Rng) -> None:
    """When q, k and v are one tensor, its gradient is the sum of the three."""
    case = draw(rng, queries=5, width=4, value_width=4)
    same = replace(case, k=case.q, v=case.q)
    cotangents = _cotangents(rng, same)
    right = sum(expected_gradients(same, *cotangents).values())
    found = gradients(submission, same, *cotangents)
    assert_close(found["q"], right, "the gradient to the tensor", gradient=True)


# --- dropout --------------------------------------------------------------------------------------


def _in_training(case: Case, rng: Rng, dropout: float) -> Case:
    return replace(case, dropout=dropout, training=True, seed=rng.integer(0, 2**62))


@check(
    kind="oracle",
    why="Dropped weights are reproducible once it is known which random number decides on which.",
)
def test_dropout_follows_the_stream(submission: Submission, rng: Rng) -> None:
    """Weights are kept where the stream's number is at least dropout, and divided by what stays."""
    case = _in_training(draw(rng, 2, 2, queries=4), rng, 0.3)
    assert_both(submission, case, " with dropout=0.3")
    numbers = sorted(pcg_numbers(case.seed or 0, math.prod(case.rows)))
    # A rate that one of the numbers meets exactly: that weight is kept.
    exact = numbers[len(numbers) // 2]
    assert_both(submission, replace(case, dropout=exact), f" with dropout={exact}")


@check(
    kind="oracle",
    why="A mask changes what is seen, not which number of the stream belongs to which weight.",
)
def test_dropout_with_a_mask(submission: Submission, rng: Rng) -> None:
    """Hidden weights take their number from the stream, too; those returned are not dropped."""
    mask = _different_in_each_sequence(rng)
    mask[0, 2] = False
    assert_both(submission, _in_training(draw(rng, mask=mask), rng, 0.4))


@check(
    kind="property",
    why="Decoding has to be repeatable, and evaluation free of noise.",
)
def test_no_dropout_outside_of_training(submission: Submission, rng: Rng) -> None:
    """Outside of training, dropout changes nothing, with and without a stream."""
    case = draw(rng, dropout=0.5)
    for each in (case, replace(case, training=False), replace(case, training=False, seed=4)):
        assert_both(submission, each)


@check(
    kind="property",
    why="The same numbers dropped in every step would be a smaller model, not a regularised one.",
)
def test_every_call_draws_on(submission: Submission, rng: Rng) -> None:
    """Of two calls with one stream, the second goes on drawing where the first ended."""
    case = _in_training(draw(rng), rng, 0.5)
    results = submission.attend_twice(**case.arguments)
    for number, result in enumerate(results):
        output, _ = checked_pair(result, case)
        right, _ = expected(case, drawn_before=number * math.prod(case.rows))
        assert_close(output, right, f"the output of call {number + 1}")


@check(
    kind="gradient",
    why="What was dropped on the way there must be dropped on the way back.",
)
def test_gradients_with_dropout(submission: Submission, rng: Rng) -> None:
    """With dropout, gradients pass the kept weights only, larger by the same factor."""
    case = _in_training(draw(rng, mask=_different_in_each_sequence(rng)), rng, 0.4)
    _assert_gradients(submission, case, *_cotangents(rng, case))


# --- sizes and layouts ----------------------------------------------------------------------------


@check(
    kind="edge",
    why="Transposes and slices are not contiguous, and heads are made by transposing.",
)
def test_inputs_that_are_not_contiguous(submission: Submission, rng: Rng) -> None:
    """Transposed and strided inputs give the same as contiguous ones."""
    case = Case(
        rng.numpy.normal(size=(3, 2, 4)).swapaxes(0, 1),
        rng.numpy.normal(size=(2, 4, 5)).swapaxes(1, 2),
        rng.numpy.normal(size=(2, 5, 4))[..., ::2],
        mask=np.ascontiguousarray(draw_mask(rng, 3, 5).T).T,
    )
    assert_both(submission, case)


@check(
    kind="edge",
    why="The first step of generating text has a single token to look at; an axis of 1 stays.",
)
def test_lengths_of_one(submission: Submission, rng: Rng) -> None:
    """One sequence, one query, one key or one feature keep their axes and give right numbers."""
    assert_both(submission, draw(rng, 1, queries=1))
    assert_both(submission, draw(rng, 1, keys=1, mask=np.array([[[True]]])))
    assert_both(submission, draw(rng, 1, width=1, value_width=1))
