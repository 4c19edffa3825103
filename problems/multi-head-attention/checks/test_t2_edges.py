"""T2: masks, rows that see nothing, gradients, unusual sizes and memory layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from oracle import NAMES, Case, attend, draw, expected, expected_gradients, with_mask

from judge.checks import (
    Rng,
    Submission,
    assert_close,
    assert_finite,
    assert_zero_where,
    check,
    gradients,
)

OUTPUT, WEIGHTS = 0, 1
LARGE = 500.0


def _assert_both(submission: Submission, case: Case) -> None:
    output, weights = attend(submission, case)
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights, "the weights")
    assert_close(output, right_output, "the output")


def _assert_gradients(
    submission: Submission,
    rng: Rng,
    case: Case,
    *,
    of: Sequence[int] = (OUTPUT, WEIGHTS),
    to: Sequence[str] = NAMES,
) -> None:
    """Gradients of the results `of` to the inputs `to` agree, for random cotangents."""
    results, cotangents = attend(submission, case), _cotangents(rng, case, of)
    inputs = {name: case.tensors[name] for name in to}
    found = gradients([results[index] for index in of], inputs, [cotangents[index] for index in of])
    _assert_right_gradients(found, case, cotangents)


def _cotangents(rng: Rng, case: Case, of: Sequence[int]) -> list[torch.Tensor]:
    """Random numbers for the results `of`, zeros for the other."""
    batch, queries, keys, width, heads = case.shape
    shapes, dtype = [(batch, queries, width), (batch, heads, queries, keys)], case.query.dtype
    return [
        rng.normal(*shape, dtype=dtype) if index in of else torch.zeros(shape, dtype=dtype)
        for index, shape in enumerate(shapes)
    ]


def _assert_right_gradients(
    found: Mapping[str, torch.Tensor], case: Case, cotangents: Sequence[torch.Tensor]
) -> None:
    wanted, dtype = expected_gradients(case, *cotangents), case.query.dtype
    for name, gradient in found.items():
        what = f"the gradient to {name}"
        assert_close(gradient, wanted[name], what, gradient=True, dtype=dtype)


def _different_in_each_head(rng: Rng) -> torch.Tensor:
    """[2,2,3,5]: head 1 sees what head 0 sees, moved by one key, hence never the same keys."""
    first = rng.visible(2, 1, 3, 5)
    return torch.cat([first, first.roll(1, dims=-1)], dim=1)


def _different_in_each_sequence(rng: Rng, queries: int) -> torch.Tensor:
    """[2,1,queries,5]: sequence 1 sees other keys than sequence 0, in every row."""
    first = rng.visible(1, 1, queries, 5)
    return torch.cat([first, first.roll(1, dims=-1)])


# --- masks ----------------------------------------------------------------------------------------


@check(
    kind="edge",
    why="Sequences of a batch differ in length; padding is hidden once for all heads and queries.",
)
def test_padding_mask(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, 1, 1, K] hides the same keys from every query of a sequence."""
    _assert_both(submission, with_mask(draw(rng), _different_in_each_sequence(rng, 1)))


@check(
    kind="edge",
    why="A causal mask is one matrix for the whole batch.",
)
def test_mask_shared_by_the_batch(submission: Submission, rng: Rng) -> None:
    """A mask of shape [Q, K] holds for every sequence and every head."""
    first = rng.visible(1, 5)
    mask = torch.cat([first, first.roll(1, dims=-1), first.roll(2, dims=-1)])
    _assert_both(submission, with_mask(draw(rng), mask))


@check(
    kind="edge",
    why="Padding and causality together need a mask for each sequence and each query.",
)
def test_mask_for_each_sequence_and_query(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, 1, Q, K] holds for all heads."""
    _assert_both(submission, with_mask(draw(rng), _different_in_each_sequence(rng, 3)))


@check(
    kind="edge",
    why="Some models let each head see a window of its own.",
)
def test_mask_for_each_head(submission: Submission, rng: Rng) -> None:
    """A mask of shape [B, H, Q, K] may hide different keys from different heads."""
    _assert_both(submission, with_mask(draw(rng), _different_in_each_head(rng)))


@check(
    kind="property",
    why="A little weight on a hidden key lets padding, or the future, leak in.",
)
def test_hidden_keys_have_weight_zero(submission: Submission, rng: Rng) -> None:
    """The weight of a hidden key is exactly zero."""
    mask = _different_in_each_head(rng)
    _, weights = attend(submission, with_mask(draw(rng), mask))
    assert_zero_where(weights, ~mask, "the weight of a hidden key")


@check(
    kind="property",
    why="The output of a head is an average; its weights have to add up to one to make it one.",
)
def test_visible_weights_total_one(submission: Submission, rng: Rng) -> None:
    """The weights of a row that sees something add up to one, with and without a mask."""
    case = draw(rng)
    for each in (case, with_mask(case, _different_in_each_head(rng))):
        _, weights = attend(submission, each)
        total = weights.detach().sum(dim=-1)
        assert_close(total, torch.ones(2, 2, 3, dtype=torch.float64), "the total of a row")


@check(
    kind="edge",
    why="A mask that hides nothing is what an unpadded batch brings along.",
)
def test_mask_that_hides_nothing(submission: Submission, rng: Rng) -> None:
    """A mask that is True everywhere gives the same as no mask."""
    case = draw(rng)
    output, weights = attend(submission, with_mask(case, torch.ones(3, 5, dtype=torch.bool)))
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights, "the weights")
    assert_close(output, right_output, "the output")


@check(
    kind="property",
    why="Training predicts every next token at once; one look ahead and the loss means nothing.",
)
def test_future_does_not_reach_the_past(submission: Submission, rng: Rng) -> None:
    """Under a causal mask, changing later keys and values leaves earlier outputs as they were."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    case = with_mask(draw(rng, queries=5), causal)
    before, _ = attend(submission, case)
    assert_close(before, expected(case)[OUTPUT], "the output")
    key, value = case.key.clone(), case.value.clone()
    key[:, 3:], value[:, 3:] = rng.normal(2, 2, 8), rng.normal(2, 2, 8)
    after, _ = attend(submission, replace(case, key=key, value=value))
    assert_close(after[:, :3], before[:, :3].detach(), "the output of the first three queries")


# --- rows that see nothing ------------------------------------------------------------------------


@check(
    kind="edge",
    why="One head without a visible key must not silence the others.",
)
def test_row_hidden_in_one_head(submission: Submission, rng: Rng) -> None:
    """Where one head sees nothing, its weights and its slice of the concatenation are zero."""
    mask = _different_in_each_head(rng)
    mask[0, 1, 2] = False
    case = replace(draw(rng), w_o=torch.eye(8, dtype=torch.float64), mask=mask)
    output, weights = attend(submission, case)
    assert_zero_where(weights[0, 1, 2], torch.ones(5, dtype=torch.bool), "the weight in that row")
    assert_zero_where(output[0, 2, 4:], torch.ones(4, dtype=torch.bool), "the slice of that head")
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights, "the weights")
    assert_close(output, right_output, "the concatenation")


@check(
    kind="edge",
    why="A query that sees nothing is padding; NaN there would spread through the whole model.",
)
def test_row_hidden_in_every_head(submission: Submission, rng: Rng) -> None:
    """Where no head sees anything, the whole row of the output is zero."""
    mask = _different_in_each_sequence(rng, 3)
    mask[1, 0, 0] = False
    case = with_mask(draw(rng), mask)
    output, _ = attend(submission, case)
    assert_zero_where(output[1, 0], torch.ones(8, dtype=torch.bool), "the output of that query")
    assert_close(output, expected(case)[OUTPUT], "the output")


@check(
    kind="edge",
    why="The last batch of a data set is often filled up with empty sequences.",
)
def test_sequence_hidden_as_a_whole(submission: Submission, rng: Rng) -> None:
    """A sequence of padding alone gives zeros and leaves the other sequence untouched."""
    mask = rng.visible(2, 1, 1, 5)
    mask[0] = False
    _assert_both(submission, with_mask(draw(rng), mask))


@check(
    kind="gradient",
    why="A NaN that is patched after the softmax is gone from the loss, not from the gradients.",
)
def test_gradients_with_a_row_that_sees_nothing(submission: Submission, rng: Rng) -> None:
    """Gradients stay finite when a row sees nothing, and none flows through that row."""
    mask = _different_in_each_sequence(rng, 3)
    mask[0, 0, 1] = False
    case = with_mask(draw(rng, requires_grad=True), mask)
    output, weights = attend(submission, case)
    cotangents = _cotangents(rng, case, [OUTPUT, WEIGHTS])
    found = gradients([output, weights], case.tensors, cotangents)
    for name, gradient in found.items():
        assert_finite(gradient, f"the gradient to {name}")
    through = found["query"][0, 1]
    assert_zero_where(through, torch.ones(8, dtype=torch.bool), "the gradient through that row")
    _assert_right_gradients(found, case, cotangents)


@check(
    kind="gradient",
    why="The heads that do see something still have to learn from that row.",
)
def test_gradients_with_a_row_hidden_in_one_head(submission: Submission, rng: Rng) -> None:
    """All seven gradients agree when a row is hidden in one head and visible in the other."""
    mask = _different_in_each_head(rng)
    mask[1, 0, 1] = False
    _assert_gradients(submission, rng, with_mask(draw(rng, requires_grad=True), mask))


# --- gradients ------------------------------------------------------------------------------------


@check(
    kind="gradient",
    why="An operator is trained through its gradients: each input needs its own.",
)
def test_all_seven_gradients(submission: Submission, rng: Rng) -> None:
    """The gradients of both results together reach all seven inputs and agree."""
    _assert_gradients(submission, rng, draw(rng, requires_grad=True))


@check(
    kind="gradient",
    why="This is the path that training takes in every step.",
)
def test_gradients_of_the_output(submission: Submission, rng: Rng) -> None:
    """The gradients of the output alone agree, under a mask for each head."""
    case = with_mask(draw(rng, requires_grad=True), _different_in_each_head(rng))
    _assert_gradients(submission, rng, case, of=[OUTPUT])


@check(
    kind="gradient",
    why="Losses on the weights (sparsity, alignment) work only while the weights are connected.",
)
def test_gradients_of_the_weights(submission: Submission, rng: Rng) -> None:
    """The gradients of the weights alone reach query, key, w_q and w_k and agree."""
    case = draw(rng, requires_grad=True)
    _assert_gradients(submission, rng, case, of=[WEIGHTS], to=["query", "key", "w_q", "w_k"])


@check(
    kind="gradient",
    why="float32 is what training runs in.",
)
def test_gradients_in_float32(submission: Submission, rng: Rng) -> None:
    """All seven gradients agree in float32, within its precision."""
    case = draw(rng, dtype=torch.float32, requires_grad=True)
    _assert_gradients(submission, rng, with_mask(case, _different_in_each_sequence(rng, 1)))


# --- sizes and layouts ----------------------------------------------------------------------------


@check(
    kind="edge",
    why="Slices and transposes are not contiguous, and callers pass them without thinking of it.",
)
def test_inputs_that_are_not_contiguous(submission: Submission, rng: Rng) -> None:
    """Transposed, strided and expanded inputs give the same as contiguous ones."""
    case = Case(
        rng.normal(3, 2, 8).transpose(0, 1),
        rng.normal(2, 8, 5).transpose(1, 2),
        rng.normal(2, 5, 16)[..., ::2],
        *(rng.normal(8, 8, std=8**-0.5).T for _ in range(4)),
        num_heads=2,
        mask=rng.visible(1, 1, 3, 5).expand(2, 2, 3, 5),
    )
    _assert_both(submission, case)


@check(
    kind="edge",
    why="One head is the smallest case that can be written down without any splitting.",
)
def test_one_head_is_plain_attention(submission: Submission, rng: Rng) -> None:
    """With one head, the result is plain attention over the projections, times w_o."""
    case = draw(rng, heads=1)
    output, weights = attend(submission, case)
    scores = (case.query @ case.w_q) @ (case.key @ case.w_k).transpose(1, 2)
    right = torch.softmax(scores / 8**0.5, dim=-1)
    assert_close(weights, right.unsqueeze(1), "the weights")
    assert_close(output, right @ (case.value @ case.w_v) @ case.w_o, "the output")


@check(
    kind="edge",
    why="At the other end each head compares single numbers, and the scale is one.",
)
def test_as_many_heads_as_features(submission: Submission, rng: Rng) -> None:
    """With H equal to D, each head works on a single feature."""
    _assert_both(submission, draw(rng, width=6, heads=6))


@check(
    kind="edge",
    why="Inference often runs on one sequence; an axis of length one is still an axis.",
)
def test_batch_of_one(submission: Submission, rng: Rng) -> None:
    """A batch of one sequence keeps its axis and gives the right numbers."""
    _assert_both(submission, draw(rng, batch=1))


@check(
    kind="edge",
    why="The first step of generating text has a single token to look at.",
)
def test_single_key(submission: Submission, rng: Rng) -> None:
    """With one key every weight is one, and each query receives that key's value."""
    case = draw(rng, keys=1)
    output, weights = attend(submission, case)
    assert_close(weights, torch.ones(2, 2, 3, 1, dtype=torch.float64), "the weights")
    right = (case.value @ case.w_v @ case.w_o).expand(2, 3, 8)
    assert_close(output, right, "the output")


# --- large scores ---------------------------------------------------------------------------------


def _with_large_scores(rng: Rng) -> Case:
    """Scores of query 0: 1000 with key 1, -1000 with key 2, 998 with key 3, in both heads."""
    case = draw(rng)
    signs = torch.where(case.query[:, :1] < 0, -1.0, 1.0).double()
    query, key = case.query.clone(), case.key.clone()
    query[:, :1] = signs
    key[:, 1:4] = signs * torch.tensor([[LARGE], [-LARGE], [LARGE - 1]], dtype=torch.float64)
    identity = torch.eye(8, dtype=torch.float64)
    return replace(case, query=query, key=key, w_q=identity, w_k=identity)


@check(
    kind="edge",
    why="exp(1000) is infinite in every float; a stable softmax never computes it.",
)
def test_large_scores(submission: Submission, rng: Rng) -> None:
    """Scores of 1000 and -1000 give finite, right results."""
    _assert_both(submission, _with_large_scores(rng))


@check(
    kind="edge",
    why="A hidden score takes no part at all, also where it is the largest by far.",
)
def test_large_scores_behind_the_mask(submission: Submission, rng: Rng) -> None:
    """A very large score that is hidden does not disturb the visible ones."""
    mask = torch.tensor([True, False, True, False, True])
    _assert_both(submission, with_mask(_with_large_scores(rng), mask.expand(3, 5)))


# --- symmetries -----------------------------------------------------------------------------------


@check(
    kind="property",
    why="Heads have no rank: what one of them computes depends on its own columns only.",
)
def test_order_of_the_heads(submission: Submission, rng: Rng) -> None:
    """Reordering the heads' columns, and the rows of w_o with them, reorders the weights alone."""
    case = draw(rng, width=12, heads=3)
    order = rng.permutation(3)
    features = (order[:, None] * 4 + torch.arange(4)).reshape(-1)
    moved = replace(
        case,
        w_q=case.w_q[:, features],
        w_k=case.w_k[:, features],
        w_v=case.w_v[:, features],
        w_o=case.w_o[features],
    )
    output, weights = attend(submission, moved)
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights[:, order], "the weights")
    assert_close(output, right_output, "the output")


@check(
    kind="property",
    why="Attention knows no order of its own, which is why models add positions to the input.",
)
def test_order_of_the_keys(submission: Submission, rng: Rng) -> None:
    """Reordering keys, values and mask together leaves the output as it was."""
    case = with_mask(draw(rng), _different_in_each_head(rng))
    order = rng.permutation(5)
    moved = replace(
        case, key=case.key[:, order], value=case.value[:, order], mask=case.mask[..., order]
    )
    output, weights = attend(submission, moved)
    right_output, right_weights = expected(case)
    assert_close(weights, right_weights[..., order], "the weights")
    assert_close(output, right_output, "the output")
