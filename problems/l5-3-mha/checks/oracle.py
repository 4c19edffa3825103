"""Cases, and what they should give: computed head by head in numpy, in float64."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judge.checks import Rng, Submission, assert_array, assert_close, assert_tuple

Array = NDArray[Any]
Pair = tuple[Array, Array]
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
NAMES = tuple(f"{each}.{part}" for each in PROJECTIONS for part in ("weight", "bias"))


@dataclass(frozen=True)
class Case:
    """One call of `attend`. Without `x_kv` it is self-attention on `x_q`."""

    heads: int
    state: dict[str, Array]
    x_q: Array
    x_kv: Array | None = None
    mask: Array | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What the module is made with."""
        options = {"d_model": self.x_q.shape[2], "n_heads": self.heads}
        return options if "q_proj.bias" in self.state else {**options, "bias": False}

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the harness takes."""
        return self.options, self.state, self.x_q, self.x_kv, self.mask

    @property
    def keys(self) -> Array:
        """The sequences that keys and values come from."""
        return self.x_q if self.x_kv is None else self.x_kv

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """B, Tq, Tk, d, H."""
        batch, queries, width = self.x_q.shape
        return batch, queries, self.keys.shape[1], width, self.heads


def draw(
    rng: Rng,
    *,
    batch: int = 2,
    queries: int = 3,
    keys: int | None = 5,
    width: int = 8,
    heads: int = 2,
    bias: bool = True,
    dtype: type = np.float64,
) -> Case:
    """A random case; weights have standard deviation 1/sqrt(d), so nothing grows or fades.

    Without `keys` it is self-attention.
    """

    def normal(*shape: int) -> Array:
        return rng.numpy.standard_normal(shape).astype(dtype)

    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = normal(width, width) / dtype(width**0.5)
        if bias:
            state[f"{name}.bias"] = normal(width) / dtype(2)
    x_kv = None if keys is None else normal(batch, keys, width)
    return Case(heads, state, normal(batch, queries, width), x_kv)


def visible(rng: Rng, *shape: int) -> Array:
    """A boolean mask whose rows all show something and hide something."""
    return rng.visible(*shape).numpy()


def different_in_each_sequence(rng: Rng, queries: int, keys: int) -> Array:
    """[2, queries, keys]: sequence 1 sees other keys than sequence 0, in every row."""
    first = visible(rng, 1, queries, keys)
    return np.concatenate([first, np.roll(first, 1, axis=-1)])


# --- what is right --------------------------------------------------------------------------------


def expected(case: Case, kept: Array | None = None) -> Pair:
    """Output and weights in float64, one head after the other.

    `kept` is what dropout multiplies the weights by, [B, H, Tq, Tk].
    """
    state = {name: values.astype(np.float64) for name, values in case.state.items()}
    x_q, x_kv = case.x_q.astype(np.float64), case.keys.astype(np.float64)
    own = case.x_q.shape[2] // case.heads
    seen = seen_by_heads(case)
    contexts, weights = [], []
    for head in range(case.heads):
        rows = slice(head * own, (head + 1) * own)
        q, k, v = (
            _projected(x, state, name, rows)
            for x, name in zip((x_q, x_kv, x_kv), PROJECTIONS, strict=False)
        )
        scores = q @ k.swapaxes(1, 2) / own**0.5
        weights.append(softmax(scores, seen[:, head]))
        used = weights[-1] if kept is None else weights[-1] * kept[:, head]
        contexts.append(used @ v)
    merged = np.concatenate(contexts, axis=2)
    return _projected(merged, state, "out_proj", slice(None)), np.stack(weights, axis=1)


def softmax(scores: Array, seen: Array) -> Array:
    """Over the last axis, among what is seen; a row that sees nothing is zero."""
    highest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-np.inf)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    grown = np.exp(np.where(seen, scores - shift, -np.inf))
    total = grown.sum(axis=-1, keepdims=True)
    return grown / np.where(total == 0, 1.0, total)


def seen_by_heads(case: Case) -> Array:
    """The mask for every head, [B, H, Tq, Tk]."""
    batch, queries, keys, _, heads = case.shape
    if case.mask is None:
        return np.ones((batch, heads, queries, keys), bool)
    by_head = case.mask[:, None] if case.mask.ndim == 3 else case.mask
    return np.broadcast_to(by_head, (batch, heads, queries, keys))


def _projected(x: Array, state: dict[str, Array], name: str, rows: slice) -> Array:
    y = x @ state[f"{name}.weight"][rows].T
    return y + state[f"{name}.bias"][rows] if f"{name}.bias" in state else y


def golden(case: Case, d_output: Array, d_weights: Array) -> tuple[Array, Array, dict[str, Array]]:
    """Output, weights and every gradient as `torch.nn.MultiheadAttention` has them, in float64.

    Gradients are those of sum(output * d_output) + sum(weights * d_weights), named as the harness
    names them.
    """
    batch, queries, keys, width, heads = case.shape
    # Made without numbers: drawing them would advance a generator that others share.
    module = torch.nn.utils.skip_init(
        torch.nn.MultiheadAttention, width, heads, batch_first=True, dtype=torch.float64
    )
    packed = [np.concatenate([case.state[f"{name}.{part}"] for name in PROJECTIONS[:3]])
              for part in ("weight", "bias")]  # fmt: skip
    parameters = [module.in_proj_weight, module.in_proj_bias, *module.out_proj.parameters()]
    numbers = [*packed, case.state["out_proj.weight"], case.state["out_proj.bias"]]
    with torch.no_grad():
        for parameter, values in zip(parameters, numbers, strict=True):
            parameter.copy_(torch.from_numpy(values))
    x_q = _leaf(case.x_q)
    x_kv = x_q if case.x_kv is None else _leaf(case.x_kv)
    # Torch's masks say what is blocked; one for each head has batch and heads in one axis.
    blocked = ~seen_by_heads(case).reshape(batch * heads, queries, keys)
    mask = torch.from_numpy(blocked) if case.mask is not None else None
    output, weights = module(x_q, x_kv, x_kv, attn_mask=mask, average_attn_weights=False)
    leaves = {"x_q": x_q} if case.x_kv is None else {"x_q": x_q, "x_kv": x_kv}
    found = torch.autograd.grad(
        [output, weights],
        [*leaves.values(), *parameters],
        [torch.from_numpy(each).double() for each in (d_output, d_weights)],
    )
    arrays = [each.numpy() for each in found]
    gradients = dict(zip(leaves, arrays, strict=False))
    d_packed_weight, d_packed_bias, *d_out = arrays[len(leaves) :]
    for part, name in enumerate(PROJECTIONS[:3]):
        rows = slice(part * width, (part + 1) * width)
        gradients[f"{name}.weight"] = d_packed_weight[rows]
        gradients[f"{name}.bias"] = d_packed_bias[rows]
    gradients["out_proj.weight"], gradients["out_proj.bias"] = d_out
    return output.detach().numpy(), weights.detach().numpy(), gradients


def _leaf(values: Array) -> torch.Tensor:
    return torch.from_numpy(values).double().requires_grad_()


# --- what the submission gives --------------------------------------------------------------------


def attend(submission: Submission, case: Case) -> Pair:
    """Output and weights, once they have the right form."""
    return checked_pair(submission.attend(*case.arguments), case)


def checked_pair(result: object, case: Case) -> Pair:
    """`result` as (output, weights), both of the shape and dtype that the case asks for."""
    output, weights = assert_tuple(result, 2, "the result of `attend`")
    batch, queries, keys, width, heads = case.shape
    dtype = case.x_q.dtype
    assert_array(output, "the output", shape=(batch, queries, width), dtype=dtype)
    assert_array(weights, "the weights", shape=(batch, heads, queries, keys), dtype=dtype)
    return output, weights


def assert_both(submission: Submission, case: Case, where: str = "") -> Pair:
    """Output and weights agree with the oracle; returns the submission's."""
    output, weights = attend(submission, case)
    right_output, right_weights = expected(case)
    dtype = case.x_q.dtype
    assert_close(weights, right_weights, f"the weights{where}", dtype=dtype)
    assert_close(output, right_output, f"the output{where}", dtype=dtype)
    return output, weights


def assert_gradients(found: dict[str, Any], wanted: dict[str, Array], where: str = "") -> None:
    """Every gradient agrees; those of the biases are compared as one array.

    The gradient of a key's bias is zero: it adds the same to all scores of a row, which a softmax
    does not see. Beside the others it is held to the absolute limit.
    """
    for name, want in wanted.items():
        if not name.endswith(".bias"):
            assert_close(found.get(name), want, f"the gradient to `{name}`{where}", gradient=True)
    names = [name for name in wanted if name.endswith(".bias")]
    for name in names:
        what = f"the gradient to `{name}`{where}"
        assert_array(found.get(name), what, shape=wanted[name].shape, dtype=wanted[name].dtype)
    joint = [np.stack([each[name] for name in names]) for each in (found, wanted)]
    assert_close(*joint, f"the gradients to the biases of q, k, v and out{where}", gradient=True)


def with_mask(case: Case, mask: Array) -> Case:
    """The same case with a mask."""
    return replace(case, mask=mask)


def with_state(case: Case, **arrays: Array) -> Case:
    """The same case with other parameters: q_proj_weight for q_proj.weight."""
    changed = {name.replace("proj_", "proj."): values for name, values in arrays.items()}
    return replace(case, state={**case.state, **changed})
