"""T2: masks, rows that see nothing, large scores, gradients, unusual sizes and layouts."""

from __future__ import annotations

from dataclasses import replace

import torch
from oracle import (
    OUTPUT,
    WEIGHTS,
    Case,
    assert_both,
    assert_gradients,
    attend,
    draw,
    draw_mask,
    expected,
    with_mask,
)

from judge.checks import (
    Rng,
    Submission,
    assert_close,
    assert_finite,
    assert_zero_where,
    check,
    gradients,
)

LARGE = 500.0  # times a product of 4 signs over sqrt(4): a score of 1000

# --- masks ----------------------------------------------------------------------------------------


@check(
    kind="edge",
    why="Sequences of a batch differ in length; padding is hidden once for all heads and queries.",
)
def test_padding_mask(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, 1, 1, K] hides the same keys from every query of a sequence."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, batch=2)))


@check(
    kind="edge",
    why="A causal mask is one matrix for the whole batch.",
)
def test_mask_shared_by_the_batch(submission: Submission, rng: Rng) -> None:
    """A mask of shape [Q, K] holds for every sequence and every head."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, queries=3)[0, 0]))


@check(
    kind="edge",
    why="Some models let each head see a window of its own.",
)
def test_mask_for_each_head(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, H, Q, K] may differ in every row."""
    assert_both(submission, with_mask(draw(rng), draw_mask(rng, 2, 3, 3)))


@check(
    kind="edge",
    why="Broadcasting is the whole of the rule; a list of shapes in the code is soon too short.",
)
def test_mask_of_every_other_shape(submission: Submission, rng: Rng) -> None:
    """A mask of any shape that broadcasts to [B, H, Q, K] works, of lower rank too."""
    case = draw(rng)
    shapes = [(1, 1, 1), (1, 3, 1), (1, 3, 3), (2, 1, 3), (2, 3, 1)]
    of_four_axes = [draw_mask(rng, *sizes) for sizes in shapes]
    of_fewer = [draw_mask(rng, 1, 3, 3)[0], draw_mask(rng)[0], draw_mask(rng)[0, 0, 0]]
    for mask in (*of_four_axes, *of_fewer):
        assert_both(submission, with_mask(case, mask), f" under a mask {list(mask.shape)}")


@check(
    kind="property",
    why="A little weight on a hidden key lets padding, or the future, leak in.",
)
def test_hidden_keys_have_weight_zero(submission: Submission, rng: Rng) -> None:
    """The weight of a hidden key is exactly zero."""
    mask = draw_mask(rng, 2, 3, 3)
    _, weights = attend(submission, with_mask(draw(rng), mask))
    assert_zero_where(weights, ~mask, "the weight of a hidden key")


@check(
    kind="property",
    why="The output is an average; its weights have to add up to one to make it one.",
)
def test_visible_weights_total_one(submission: Submission, rng: Rng) -> None:
    """The weights of a row that sees something add up to one, with and without a mask."""
    case = draw(rng)
    for each in (case, with_mask(case, draw_mask(rng, 2, 3, 3))):
        _, weights = attend(submission, each)
        total = weights.detach().sum(dim=-1)
        assert_close(total, torch.ones(2, 3, 3, dtype=torch.float64), "the total of a row")


@check(
    kind="edge",
    why="A mask that hides nothing is what a batch without padding brings along.",
)
def test_mask_that_hides_nothing(submission: Submission, rng: Rng) -> None:
    """A mask that is True everywhere gives the same as no mask."""
    case = draw(rng)
    shown = with_mask(case, torch.ones(3, 5, dtype=torch.bool))
    assert_both(submission, shown, right=expected(case))


@check(
    kind="property",
    why="Hidden positions hold padding, or tokens still to be guessed: any number may be there.",
)
def test_hidden_keys_and_values_are_never_read(submission: Submission, rng: Rng) -> None:
    """Other numbers in hidden keys and values change nothing."""
    mask = draw_mask(rng, 2, 3)
    case = with_mask(draw(rng), mask)
    hidden = ~mask.transpose(-2, -1)
    k = torch.where(hidden, 100 * rng.normal(2, 3, 5, 4), case.k)
    v = torch.where(hidden, 100 * rng.normal(2, 3, 5, 6), case.v)
    assert_both(submission, replace(case, k=k, v=v), right=expected(case))


@check(
    kind="property",
    why="Training predicts every next token at once; one look ahead and the loss means nothing.",
)
def test_future_does_not_reach_the_past(submission: Submission, rng: Rng) -> None:
    """Under a causal mask, later keys and values have no part in earlier outputs."""
    case = with_mask(draw(rng, queries=5), torch.ones(5, 5, dtype=torch.bool).tril())
    k, v = case.k.clone(), case.v.clone()
    k[..., 3:, :], v[..., 3:, :] = rng.normal(2, 3, 2, 4), rng.normal(2, 3, 2, 6)
    output, _ = attend(submission, replace(case, k=k, v=v))
    right = expected(case)[OUTPUT][..., :3, :]
    assert_close(output[..., :3, :].detach(), right, "the output of the first three queries")


# --- rows that see nothing ------------------------------------------------------------------------


@check(
    kind="edge",
    why="A query that sees nothing is padding; NaN there would spread through the whole model.",
)
def test_row_that_sees_nothing(submission: Submission, rng: Rng) -> None:
    """Where a row sees nothing, its weights and its output are exactly zero."""
    mask = draw_mask(rng, 2, 3, 3)
    mask[0, 1, 2] = False
    case = with_mask(draw(rng), mask)
    output, weights = attend(submission, case)
    all_keys, all_features = torch.ones(5, dtype=torch.bool), torch.ones(6, dtype=torch.bool)
    assert_zero_where(weights[0, 1, 2], all_keys, "the weight in that row")
    assert_zero_where(output[0, 1, 2], all_features, "the output of that row")
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights, "the weights")
    assert_close(output, right_output, "the output")


@check(
    kind="edge",
    why="A mask without a key axis switches whole queries off, as at the end of a short sequence.",
)
def test_mask_without_a_key_axis(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, 1, Q, 1] shows all keys to a query, or none."""
    mask = rng.visible(2, 1, 1, 3).transpose(-2, -1)
    assert_both(submission, with_mask(draw(rng), mask))


@check(
    kind="edge",
    why="The last batch of a data set is often filled up with empty sequences.",
)
def test_sequence_hidden_as_a_whole(submission: Submission, rng: Rng) -> None:
    """A sequence of padding alone gives zeros and leaves the other sequence untouched."""
    mask = draw_mask(rng, batch=2)
    mask[1] = False
    assert_both(submission, with_mask(draw(rng), mask))


@check(
    kind="gradient",
    why="A NaN that is patched after the softmax is gone from the loss, not from the gradients.",
)
def test_gradients_with_a_row_that_sees_nothing(submission: Submission, rng: Rng) -> None:
    """Gradients stay finite when a row sees nothing, and none flows through that row."""
    mask = draw_mask(rng, 2, 3, 3)
    mask[0, 2, 1] = False
    case = with_mask(draw(rng, requires_grad=True), mask)
    cotangents = [rng.normal(2, 3, 3, 6), rng.normal(2, 3, 3, 5)]
    found = gradients(attend(submission, case), case.tensors, cotangents)
    for name, gradient in found.items():
        assert_finite(gradient, f"the gradient to {name}")
    through = found["q"][0, 2, 1]
    assert_zero_where(through, torch.ones(4, dtype=torch.bool), "the gradient through that row")
    wanted = torch.autograd.grad(expected(case), list(case.tensors.values()), cotangents)
    for (name, gradient), want in zip(found.items(), wanted, strict=True):
        assert_close(gradient, want, f"the gradient to {name}", gradient=True)


@check(
    kind="gradient",
    why="An empty sequence must not train anything, least of all towards NaN.",
)
def test_gradients_with_a_sequence_hidden_as_a_whole(submission: Submission, rng: Rng) -> None:
    """No gradient reaches a sequence of padding alone, and the other one's agree."""
    mask = draw_mask(rng, batch=2)
    mask[0] = False
    assert_gradients(submission, rng, with_mask(draw(rng, requires_grad=True), mask))


# --- large scores ---------------------------------------------------------------------------------


def _with_large_scores(rng: Rng, *, requires_grad: bool = False) -> Case:
    """Scores of query 0: 1000 with key 1, -1000 with key 2, 998 with key 3, -998 with key 4."""
    case = draw(rng)
    signs = torch.where(case.q[..., :1, :] < 0, -1.0, 1.0).double()
    q, k = case.q.clone(), case.k.clone()
    q[..., :1, :] = signs
    sizes = torch.tensor([LARGE, -LARGE, LARGE - 1, 1 - LARGE], dtype=torch.float64)
    k[..., 1:, :] = signs * sizes[:, None]
    three = (tensor.requires_grad_(requires_grad) for tensor in (q, k, case.v))
    return Case(*three)


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
    mask = torch.tensor([True, False, True, False, True])
    assert_both(submission, with_mask(_with_large_scores(rng), mask))


@check(
    kind="edge",
    why="However low a visible score is, a hidden one is lower.",
)
def test_only_very_low_scores_visible(submission: Submission, rng: Rng) -> None:
    """Visible scores of -1000 and -998 share the whole weight while 1000 is hidden."""
    mask = torch.tensor([False, False, True, False, True])
    case = with_mask(_with_large_scores(rng), mask)
    _, weights = attend(submission, case)
    right = torch.softmax(torch.tensor([-1000, -998], dtype=torch.float64), dim=-1)
    assert_close(weights[0, 0, 0, [2, 4]].detach(), right, "the weights of the two visible keys")
    assert_both(submission, case)


@check(
    kind="gradient",
    why="An overflow that is cut out of the result may still be met on the way back.",
)
def test_gradients_with_the_largest_scores_hidden(submission: Submission, rng: Rng) -> None:
    """All three gradients are finite and agree while scores of 1000 are hidden."""
    mask = torch.tensor([True, False, True, False, True])
    case = _with_large_scores(rng, requires_grad=True)
    assert_gradients(submission, rng, with_mask(case, mask))


# --- gradients ------------------------------------------------------------------------------------


@check(
    kind="gradient",
    why="A kernel is trained through, not trained: what it was given has to learn from it.",
)
def test_all_three_gradients(submission: Submission, rng: Rng) -> None:
    """The gradients of both results together reach q, k and v and agree."""
    assert_gradients(submission, rng, draw(rng, requires_grad=True))


@check(
    kind="gradient",
    why="This is the path that training takes in every step.",
)
def test_gradients_of_the_output(submission: Submission, rng: Rng) -> None:
    """The gradients of the output alone agree, under a mask for each row."""
    case = with_mask(draw(rng, requires_grad=True), draw_mask(rng, 2, 3, 3))
    assert_gradients(submission, rng, case, of=[OUTPUT])


@check(
    kind="gradient",
    why="Losses on the weights (sparsity, alignment) work only while the weights are connected.",
)
def test_gradients_of_the_weights(submission: Submission, rng: Rng) -> None:
    """The gradients of the weights alone reach q and k and agree."""
    case = with_mask(draw(rng, requires_grad=True), draw_mask(rng, 2, 1, 3))
    assert_gradients(submission, rng, case, of=[WEIGHTS], to=["q", "k"])


@check(
    kind="gradient",
    why="float32 is what training runs in.",
)
def test_gradients_in_float32(submission: Submission, rng: Rng) -> None:
    """All three gradients agree in float32, within its precision."""
    case = draw(rng, dtype=torch.float32, requires_grad=True)
    assert_gradients(submission, rng, with_mask(case, draw_mask(rng, batch=2)))


# --- sizes and layouts ----------------------------------------------------------------------------


@check(
    kind="edge",
    why="Heads come out of a transpose, keys out of a cache: contiguous memory is the exception.",
)
def test_inputs_that_are_not_contiguous(submission: Submission, rng: Rng) -> None:
    """Transposed, strided and expanded inputs give the same as contiguous ones."""
    case = Case(
        rng.normal(2, 3, 3, 4).transpose(1, 2),
        rng.normal(2, 3, 4, 5).transpose(2, 3),
        rng.normal(2, 1, 5, 12)[..., ::2].expand(2, 3, 5, 6),
        draw_mask(rng, queries=3).expand(2, 3, 3, 5),
    )
    assert_both(submission, case)


@check(
    kind="edge",
    why="The first step of generating text has a single token to look at.",
)
def test_single_key(submission: Submission, rng: Rng) -> None:
    """With one key every weight is one, and each query receives that key's value."""
    case = draw(rng, keys=1)
    right = case.v.expand(2, 3, 3, 6), torch.ones(2, 3, 3, 1, dtype=torch.float64)
    assert_both(submission, case, right=right)


@check(
    kind="edge",
    why="With one key, the row that sees nothing is one number: there is no neighbour to notice.",
)
def test_single_key_that_is_hidden(submission: Submission, rng: Rng) -> None:
    """With one key, a query that may not see it receives zeros."""
    mask = rng.visible(2, 1, 1, 3).transpose(-2, -1)
    assert_both(submission, with_mask(draw(rng, keys=1), mask))


@check(
    kind="edge",
    why="Inference often runs on one sequence and one query; an axis of length one stays an axis.",
)
def test_one_of_everything(submission: Submission, rng: Rng) -> None:
    """A batch of one, one head, one query or single features keep their axes."""
    for sizes in ({"batch": 1, "heads": 1}, {"queries": 1}, {"width": 1, "value_width": 1}):
        assert_both(submission, draw(rng, **sizes))


# --- symmetries -----------------------------------------------------------------------------------


@check(
    kind="property",
    why="Attention knows no order of its own, which is why models add positions to the input.",
)
def test_order_of_the_keys(submission: Submission, rng: Rng) -> None:
    """Reordering keys, values and mask together reorders the weights alone."""
    mask = draw_mask(rng, 2, 3, 3)
    case = with_mask(draw(rng), mask)
    order = rng.permutation(5)
    moved = Case(case.q, case.k[..., order, :], case.v[..., order, :], mask[..., order])
    output, weights = expected(case)
    assert_both(submission, moved, right=(output, weights[..., order]))


@check(
    kind="property",
    why="A softmax sees differences only; what all keys have in common tells none of them apart.",
)
def test_what_all_keys_share(submission: Submission, rng: Rng) -> None:
    """Adding one and the same vector to every key changes nothing."""
    case = draw(rng)
    moved = replace(case, k=case.k + rng.normal(2, 3, 1, 4))
    assert_both(submission, moved, right=expected(case))
