"""T2: masks, large scores, unusual sizes and layouts, symmetries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle import Case, assert_both, attend, draw, draw_mask, expected, with_mask

from judge.checks import Rng, Submission, assert_close, assert_zero_where, check

# --- masks ----------------------------------------------------------------------------------------


@check(
    kind="edge",
    why="Which token may see which is a matter of pairs; this is the general case.",
)
def test_mask_for_each_pair(submission: Submission, rng: Rng) -> None:
    """A mask of shape (n, n) hides key j from query i where entry (i, j) is False."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, 5)))


@check(
    kind="edge",
    why="Padding is hidden from every query: one truth value for each key is all it takes.",
)
def test_mask_for_each_key(submission: Submission, rng: Rng) -> None:
    """A mask of shape (n,) hides the same keys from every query."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, 1)[0]))


@check(
    kind="edge",
    why="The same mask with its axis kept, as slicing or reducing a larger one leaves it.",
)
def test_mask_of_one_row(submission: Submission, rng: Rng) -> None:
    """A mask of shape (1, n) is the same as its only row."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, 1)))


@check(
    kind="edge",
    why="An axis of length one is stretched, also where that is the axis of the keys.",
)
def test_mask_of_one_column(submission: Submission, rng: Rng) -> None:
    """A mask of shape (n, 1) that is True everywhere hides nothing."""
    case = draw(rng)
    shown = with_mask(case, np.ones((5, 1), dtype=bool))
    assert_both(submission, shown, right=expected(case))


@check(
    kind="edge",
    why="Text is written from left to right, and a model that writes it sees only what is there.",
)
def test_causal_mask(submission: Submission, rng: Rng) -> None:
    """Under a lower triangular mask, each token sees itself and what comes before."""
    case = with_mask(draw(rng), np.tri(5, dtype=bool))
    _, weights = attend(submission, case)
    assert_close(weights[:, 0, 0], np.ones(2), "the weight of the first token with itself")
    assert_both(submission, case)


@check(
    kind="property",
    why="Training predicts every next token at once; one look ahead and the loss means nothing.",
)
def test_future_does_not_reach_the_past(submission: Submission, rng: Rng) -> None:
    """Under a causal mask, other tokens later on leave earlier outputs as they were."""
    case = with_mask(draw(rng), np.tri(5, dtype=bool))
    later = rng.numpy.standard_normal((2, 6))
    output, _ = attend(submission, replace(case, x=np.concatenate([case.x[:3], later])))
    assert_close(output[:3], expected(case)[0][:3], "the output of the first three tokens")


@check(
    kind="edge",
    why="A mask that hides nothing is what a sequence without padding brings along.",
)
def test_mask_that_hides_nothing(submission: Submission, rng: Rng) -> None:
    """A mask of shape (n, n) that is True everywhere gives the same as no mask."""
    case = draw(rng)
    assert_both(submission, with_mask(case, np.ones((5, 5), dtype=bool)), right=expected(case))


@check(
    kind="property",
    why="A little weight on a hidden token lets padding, or the future, leak in.",
)
def test_hidden_tokens_have_weight_zero(submission: Submission, rng: Rng) -> None:
    """The weight of a hidden token is exactly zero, in every head."""
    mask = draw_mask(rng, 5)
    _, weights = attend(submission, with_mask(draw(rng), mask))
    assert_zero_where(weights, ~mask, "the weight of a hidden token")


@check(
    kind="property",
    why="A head hands on an average; its weights have to add up to one to make it one.",
)
def test_weights_total_one(submission: Submission, rng: Rng) -> None:
    """The weights of every row add up to one, with and without a mask."""
    case = draw(rng)
    for each in (case, with_mask(case, draw_mask(rng, 5))):
        _, weights = attend(submission, each)
        assert_close(weights.sum(axis=-1), np.ones((2, 5)), "the total of a row")


@check(
    kind="edge",
    why="A token that sees one token alone has nothing to weigh.",
)
def test_single_visible_token(submission: Submission, rng: Rng) -> None:
    """Where one token is visible, every token receives its value and nothing else."""
    case = with_mask(draw(rng), np.arange(5) == 3)
    weights = np.zeros((2, 5, 5))
    weights[:, :, 3] = 1.0
    value = case.x[3] @ case.w_v @ case.w_o
    assert_both(submission, case, right=(np.tile(value, (5, 1)), weights))


# --- large scores ---------------------------------------------------------------------------------


def _with_large_scores(rng: Rng) -> Case:
    """Two heads; in head 0, token 0 scores 1000, -1000, 998 and -998 with tokens 1 to 4."""
    signs = np.where(rng.numpy.standard_normal(4) < 0, -1.0, 1.0)
    # X holds q in its first four columns and k in its last four; W_q and W_k pick them out.
    q, k = rng.numpy.standard_normal((2, 5, 4))
    q[0] = signs
    k[1:] = signs * np.array([[500.0], [-500.0], [499.0], [-499.0]])
    case = draw(rng, width=8, heads=2)
    first, last = np.vstack([np.eye(4), np.zeros((4, 4))]), np.vstack([np.zeros((4, 4)), np.eye(4)])
    return replace(
        case,
        x=np.hstack([q, k]),
        w_q=np.hstack([first, last]),
        w_k=np.hstack([last, first]),
    )


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
def test_largest_scores_hidden(submission: Submission, rng: Rng) -> None:
    """Scores of 1000 that are hidden do not disturb the small ones that are visible."""
    mask = np.array([True, False, True, False, True])
    assert_both(submission, with_mask(_with_large_scores(rng), mask))


@check(
    kind="edge",
    why="However low a visible score is, a hidden one is lower.",
)
def test_only_very_low_scores_visible(submission: Submission, rng: Rng) -> None:
    """Visible scores of -1000 and -998 share the whole weight while 1000 is hidden."""
    mask = np.array([False, False, True, False, True])
    case = with_mask(_with_large_scores(rng), mask)
    _, weights = attend(submission, case)
    small = 1 / (1 + np.exp(2.0))
    right = np.array([small, 1 - small])
    assert_close(weights[0, 0, [2, 4]], right, "the weights of the two visible tokens")
    assert_both(submission, case)


# --- sizes and layouts ----------------------------------------------------------------------------


@check(
    kind="edge",
    why="One head is the smallest case that can be written down without any splitting.",
)
def test_one_head_is_plain_attention(submission: Submission, rng: Rng) -> None:
    """With one head, the result is plain attention over the projections, times W_o."""
    case = draw(rng, heads=1)
    scores = (case.x @ case.w_q) @ (case.x @ case.w_k).T / np.sqrt(6)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    right = weights @ (case.x @ case.w_v) @ case.w_o, weights[None]
    assert_both(submission, case, right=right)


@check(
    kind="edge",
    why="At the other end each head compares single numbers, and the scale is one.",
)
def test_as_many_heads_as_features(submission: Submission, rng: Rng) -> None:
    """With as many heads as features, each head works on a single one."""
    assert_both(submission, draw(rng, heads=6))


@check(
    kind="edge",
    why="A sequence begins with its first token, which has only itself to look at.",
)
def test_single_token(submission: Submission, rng: Rng) -> None:
    """With one token every weight is one, and the output is its value times W_o."""
    case = draw(rng, tokens=1)
    right = case.x @ case.w_v @ case.w_o, np.ones((2, 1, 1))
    for each in (case, with_mask(case, np.ones((1, 1), dtype=bool))):
        assert_both(submission, each, right=right)


@check(
    kind="edge",
    why="With as many tokens as heads, axes that are mixed up still fit.",
)
def test_as_many_tokens_as_heads(submission: Submission, rng: Rng) -> None:
    """With n equal to the number of heads, and both equal to d, output and weights agree."""
    case = draw(rng, tokens=3, width=9, heads=3)
    assert_both(submission, case)
    assert_both(submission, with_mask(case, draw_mask(rng, 3, 3)), " under a mask")


@check(
    kind="edge",
    why="A transpose or a slice is not contiguous, and callers pass them without thinking of it.",
)
def test_inputs_that_are_not_contiguous(submission: Submission, rng: Rng) -> None:
    """Transposed, strided and broadcast inputs give the same as contiguous ones."""
    normal = rng.numpy.standard_normal
    four = (normal((6, 6)).T / np.sqrt(6) for _ in range(4))
    mask = np.broadcast_to(draw_mask(rng, 1), (5, 5))
    assert_both(submission, Case(normal((5, 12))[:, ::2], *four, num_heads=3, mask=mask))


# --- symmetries -----------------------------------------------------------------------------------


@check(
    kind="property",
    why="Attention knows no order of its own, which is why models add positions to the input.",
)
def test_order_of_the_tokens(submission: Submission, rng: Rng) -> None:
    """Without a mask, reordering the tokens reorders output and weights, and that is all."""
    case = draw(rng)
    order = rng.permutation(5).numpy()
    output, weights = expected(case)
    right = output[order], weights[:, order][:, :, order]
    assert_both(submission, replace(case, x=case.x[order]), right=right)


@check(
    kind="property",
    why="Heads have no rank: what one of them computes depends on its own columns only.",
)
def test_order_of_the_heads(submission: Submission, rng: Rng) -> None:
    """Reordering the heads' columns, and the rows of W_o with them, reorders the weights alone."""
    case = draw(rng, width=6, heads=3)
    order = rng.permutation(3).numpy()
    columns = (2 * order[:, None] + np.arange(2)).reshape(-1)
    moved = replace(
        case,
        w_q=case.w_q[:, columns],
        w_k=case.w_k[:, columns],
        w_v=case.w_v[:, columns],
        w_o=case.w_o[columns],
    )
    output, weights = expected(case)
    assert_both(submission, moved, right=(output, weights[order]))
