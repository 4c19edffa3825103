"""T2: properties, gradients, unusual sizes, layouts and scores."""

from __future__ import annotations

from dataclasses import replace

import torch
from oracle import (
    BIASES,
    WEIGHTS,
    Case,
    answer_of,
    assert_agrees,
    assert_prints,
    attend,
    draw,
    expected,
    module_of,
    words,
)
from torch.nn.functional import linear

from judge.checks import Rng, Submission, assert_close, check, gradients

ONE_MODULE_FOR_ALL = """
>>> _ = torch.manual_seed(0)
>>> mha = MultiHeadAttention(16, 4)
>>> x = torch.randn(2, 8, 16)
>>> whole = mha(x, causal=True)
>>> torch.allclose(mha(x[:, :5], causal=True), whole[:, :5], atol=1e-6)
True
>>> mha(x[:1]).shape
torch.Size([1, 8, 16])
>>> torch.allclose(mha(x, causal=True), whole, atol=1e-6)
True
"""


def _projected(case: Case, name: str, x: torch.Tensor) -> torch.Tensor:
    return linear(x, case.state[f"{name}.weight"], case.state[f"{name}.bias"])


# --- what a token sees ----------------------------------------------------------------------------


@check(
    kind="property",
    why="Training predicts every next token at once; one look ahead and the loss means nothing.",
)
def test_future_does_not_reach_the_past(submission: Submission, rng: Rng) -> None:
    """With `causal`, changing the last two tokens leaves the outputs before them as they were."""
    case = draw(rng)
    before = attend(submission, case, causal=True)
    assert_close(before, expected(case, causal=True), "the causal output")
    x = case.x.clone()
    x[:, 3:] = rng.normal(2, 2, 12)
    after = attend(submission, replace(case, x=x), causal=True)
    assert_close(after[:, :3], before[:, :3].detach(), "the output of the first three tokens")


@check(
    kind="edge",
    why="A text begins with one token, and a mask that hides it from itself leaves NaN.",
)
def test_token_that_sees_itself_alone(submission: Submission, rng: Rng) -> None:
    """A token alone in its sequence, or first in a causal one, receives its own value."""
    case = draw(rng)
    alone = replace(case, x=case.x[:, :1].contiguous())
    right = _projected(case, "out_proj", _projected(case, "v_proj", alone.x))
    for causal in (False, True):
        output = attend(submission, alone, causal=causal)
        assert_close(output, right, words(causal, " for a single token"))
    first = attend(submission, case, causal=True)[:, :1]
    assert_close(first, right, "the causal output of the first token")


@check(
    kind="property",
    why="Attention knows no order of its own, which is why models add positions to the input.",
)
def test_order_of_the_tokens(submission: Submission, rng: Rng) -> None:
    """Without `causal`, reordering the tokens reorders the output in the same way."""
    case = draw(rng, length=6)
    order = rng.permutation(6)
    output = attend(submission, replace(case, x=case.x[:, order]))
    assert_close(output, expected(case)[:, order], "the output of the reordered tokens")


@check(
    kind="property",
    why="Heads see the same tokens in slices of their own; only out_proj mixes what they found.",
)
def test_heads_are_independent(submission: Submission, rng: Rng) -> None:
    """With the identity as out_proj, other weights for head 1 change the slice of head 1 alone."""
    identity, nothing = torch.eye(12, dtype=torch.float64), torch.zeros(12, dtype=torch.float64)
    case = draw(rng).but(out_proj_weight=identity, out_proj_bias=nothing)
    changed = {name: tensor.clone() for name, tensor in case.state.items()}
    for name in ("q_proj", "k_proj", "v_proj"):
        changed[f"{name}.weight"][4:8] = rng.normal(4, 12, std=12**-0.5)
        changed[f"{name}.bias"][4:8] = rng.normal(4)
    other = replace(case, state=changed)
    output = attend(submission, other)
    kept, right = expected(case), expected(other)
    assert_close(output[..., :4], kept[..., :4], "the slice of head 0, whose weights are the same")
    assert_close(output[..., 8:], kept[..., 8:], "the slice of head 2, whose weights are the same")
    assert_close(output[..., 4:8], right[..., 4:8], "the slice of head 1")


# --- gradients ------------------------------------------------------------------------------------


@check(
    kind="gradient",
    why="A layer is trained through its gradients, and passes them on to the layers below.",
)
def test_nine_gradients(submission: Submission, rng: Rng) -> None:
    """Gradients reach x, the four weights and the four biases, and agree."""
    _assert_gradients(submission, rng, draw(rng, requires_grad=True), causal=False)


@check(
    kind="gradient",
    why="float32 under a causal mask is what language models are trained in.",
)
def test_gradients_in_float32_under_the_mask(submission: Submission, rng: Rng) -> None:
    """With `causal` and in float32, all nine gradients agree within its precision."""
    case = draw(rng, dtype=torch.float32, requires_grad=True)
    _assert_gradients(submission, rng, case, causal=True)


def _assert_gradients(submission: Submission, rng: Rng, case: Case, *, causal: bool) -> None:
    """For a random cotangent. Biases are compared together, within an absolute tolerance.

    The softmax ignores what is added to a whole row, so the gradient of the key's bias is zero and
    what one computes is rounding: to compare that alone, or relatively, would mean nothing.
    """
    inputs = {"x": case.x, **case.state}
    cotangent = rng.normal(*case.x.shape)
    dtype = case.x.dtype
    output = attend(submission, case, causal=causal)
    found = gradients([output], inputs, [cotangent.to(dtype)])
    right = expected(case, causal=causal)
    wanted = dict(
        zip(inputs, torch.autograd.grad(right, list(inputs.values()), cotangent), strict=True)
    )
    for name in ("x", *WEIGHTS):
        what, want = f"the gradient to {name}", wanted[name].double()
        assert_close(found[name], want, what, gradient=True, dtype=dtype)
    biases = torch.stack([found[name] for name in BIASES])
    right_biases = torch.stack([wanted[name] for name in BIASES]).double()
    what = "the gradients to the biases of q_proj, k_proj, v_proj and out_proj"
    assert_close(biases, right_biases, what, gradient=True, dtype=dtype)


# --- sizes and layouts ----------------------------------------------------------------------------


@check(
    kind="edge",
    why="Text is often generated for one reader; an axis of length one is still an axis.",
)
def test_batch_of_one(submission: Submission, rng: Rng) -> None:
    """A batch of one sequence keeps its axis and gives the right numbers."""
    assert_agrees(submission, draw(rng, batch=1), causal=False)


@check(
    kind="edge",
    why="One head is plain attention without any splitting; at the other end the scale is one.",
)
def test_fewest_and_most_heads(submission: Submission, rng: Rng) -> None:
    """One head gives plain attention, and as many heads as features work on one feature each."""
    case = draw(rng, width=6, heads=1)
    q, k, v = (_projected(case, name, case.x) for name in ("q_proj", "k_proj", "v_proj"))
    weights = torch.softmax(q @ k.transpose(1, 2) / 6**0.5, dim=-1)
    right = _projected(case, "out_proj", weights @ v)
    assert_close(attend(submission, case), right, "the output of one head")
    assert_agrees(submission, replace(case, num_heads=6), causal=True, where=" of six heads")


@check(
    kind="edge",
    why="Slices and transposes are not contiguous, and callers pass them without thinking of it.",
)
def test_input_that_is_not_contiguous(submission: Submission, rng: Rng) -> None:
    """A transposed, a strided and an expanded x give the same as contiguous ones."""
    case = draw(rng)
    inputs = {
        "a transposed x": rng.normal(5, 2, 12).transpose(0, 1),
        "a strided x": rng.normal(2, 5, 24)[..., ::2],
        "an expanded x": rng.normal(1, 5, 12).expand(2, 5, 12),
    }
    for name, x in inputs.items():
        assert_agrees(submission, replace(case, x=x), causal=True, where=f" for {name}")


# --- what a module keeps --------------------------------------------------------------------------


@check(
    kind="property",
    why="Without dropout there is nothing that training and use could do differently.",
)
def test_same_in_training_and_in_use(submission: Submission, rng: Rng) -> None:
    """`train()` and `eval()` change nothing."""
    case = draw(rng)
    right = expected(case, causal=True)
    for training, mode in ((True, "train"), (False, "eval")):
        module = module_of(submission, case).in_mode(training=training)
        output = answer_of(module, case, causal=True)
        assert_close(output, right, f"the causal output after `{mode}()`")


@check(
    kind="property",
    why="What was learned is in the weights: a module that does not use them cannot learn.",
)
def test_loaded_weights_are_used(submission: Submission, rng: Rng) -> None:
    """The same input gives each of two sets of loaded weights its own answer."""
    first = draw(rng)
    second = replace(draw(rng), x=first.x)
    for case, where in ((first, "first"), (second, "second"), (first, "first, again")):
        output = attend(submission, case)
        assert_close(output, expected(case), f"the output with the weights loaded {where}")


@check(
    kind="property",
    why="One module serves a whole training run: thousands of batches of all sizes.",
)
def test_one_module_serves_many_calls(submission: Submission) -> None:
    """Called again, for other lengths and batches, a module answers as it did the first time."""
    assert_prints(submission, ONE_MODULE_FOR_ALL)


@check(
    kind="edge",
    why="exp(1250) is infinite in every float, and a hidden score counts nothing, however large.",
)
def test_large_scores(submission: Submission, rng: Rng) -> None:
    """Scores of 1250 and -1250, some of them hidden, give finite, right results."""
    signs = torch.tensor([1, -1, 1, 1, -1], dtype=torch.float64)
    identity, nothing = torch.eye(12, dtype=torch.float64), torch.zeros(12, dtype=torch.float64)
    case = replace(
        draw(rng).but(
            q_proj_weight=-identity, k_proj_weight=identity,
            q_proj_bias=nothing, k_proj_bias=nothing,
        ),
        x=signs[:, None] * (25 + rng.normal(2, 5, 12, std=0.02)),
    )  # fmt: skip
    for causal in (False, True):
        assert_agrees(submission, case, causal=causal)
