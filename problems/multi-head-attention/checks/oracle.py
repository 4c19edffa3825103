"""Cases, and what they should give: computed one head at a time, in float64, without the kernel.

What is expected is the formulas of "Attention Is All You Need", section 3.2, in plain NumPy, and
their gradients: no part of it is shared with what is judged, neither torch's operators nor its
autograd. On arrays as small as these NumPy takes less than half the time of torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from judge.checks import Rng, Submission, assert_array, assert_tuple, assert_unchanged

FUNCTION = "multi_head_attention"
NAMES = ("query", "key", "value", "w_q", "w_k", "w_v", "w_o")
LOWEST = np.finfo(np.float64).min
Pair = tuple[torch.Tensor, torch.Tensor]
Numbers = np.ndarray[Any, np.dtype[Any]]


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
    sizes = [batch * queries * width, 2 * batch * keys * width, 4 * width**2]
    numbers = rng.normal(sum(sizes), dtype=dtype)
    query, both, matrices = numbers.split_with_sizes(sizes)
    matrices.mul_(width**-0.5)
    seven = (
        query.view(batch, queries, width),
        *both.view(2, batch, keys, width).unbind(),
        *matrices.view(4, width, width).unbind(),
    )
    if requires_grad:
        for tensor in seven:
            tensor.requires_grad_()
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
    """Output [B,Q,D] and weights [B,H,Q,K], in float64."""
    value, w_v, w_o = map(_numbers, (case.value, case.w_v, case.w_o))
    weights = _weights(case)
    batch, heads, queries, keys = weights.shape
    # P (value w_v) = (P value) w_v. The first product is one for the rows of all heads.
    averages = (weights.reshape(batch, -1, keys) @ value).reshape(batch, heads, queries, -1)
    mixed = np.empty(case.query.shape)
    for head, own in enumerate(_columns(case)):
        mixed[..., own] = averages[:, head] @ w_v[:, own]
    return torch.from_numpy(mixed @ w_o), torch.from_numpy(weights)


def expected_gradients(
    case: Case, to_output: torch.Tensor, to_weights: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Gradients of sum(output * to_output) + sum(weights * to_weights) to all seven; in float64.

    The chain rule, backwards. With dx for the gradient to x, and for each head its own columns of
    w_q, w_k and w_v and rows of w_o, its scores S = q kᵀ / sqrt(d), P = softmax(S) and M = P v:

        dM = to_output w_oᵀ
        dP = dM vᵀ + to_weights
        dS = P * (dP - total of dP * P over the keys), hence zero where P is: behind the mask
        dq = dS k / sqrt(d),  dk = dSᵀ q / sqrt(d),  dv = Pᵀ dM

    With all heads side by side, q = query w_q gives dquery = dq w_qᵀ and, over the rows of the
    whole batch, dw_q = queryᵀ dq. The three other products do alike.
    """
    query, key, value, w_q, w_k, w_v, w_o = map(_numbers, case.tensors.values())
    d_output, d_weights = _numbers(to_output), _numbers(to_weights)
    weights = _weights(case)
    mixed, d_q, d_k, d_v = map(np.empty_like, (query, query, key, value))
    for head, own in enumerate(_columns(case)):
        q, k, v = query @ w_q[:, own], key @ w_k[:, own], value @ w_v[:, own]
        p = weights[:, head]
        d_mixed = d_output @ w_o[own].T
        d_p = d_mixed @ _transposed(v) + d_weights[:, head]
        d_scores = p * (d_p - (d_p * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])
        mixed[..., own] = p @ v
        d_q[..., own], d_k[..., own] = d_scores @ k, _transposed(d_scores) @ q
        d_v[..., own] = _transposed(p) @ d_mixed
    found = {
        "query": d_q @ w_q.T,
        "key": d_k @ w_k.T,
        "value": d_v @ w_v.T,
        "w_q": _rows(query).T @ _rows(d_q),
        "w_k": _rows(key).T @ _rows(d_k),
        "w_v": _rows(value).T @ _rows(d_v),
        "w_o": _rows(mixed).T @ _rows(d_output),
    }
    return {name: torch.from_numpy(gradient) for name, gradient in found.items()}


def with_mask(case: Case, mask: torch.Tensor) -> Case:
    """The same case with a mask."""
    return replace(case, mask=mask)


def _weights(case: Case) -> Numbers:
    """[B,H,Q,K]: the softmax of (query w_q) (key w_k)ᵀ / sqrt(d), in every head by itself."""
    query, key, w_q, w_k = map(_numbers, (case.query, case.key, case.w_q, case.w_k))
    batch, queries, keys, width, heads = case.shape
    # (query w_q) (key w_k)ᵀ = (query w_q w_kᵀ) keyᵀ. The last product is one for all heads.
    asked = np.empty((batch, heads, queries, width))
    for head, own in enumerate(_columns(case)):
        asked[:, head] = query @ w_q[:, own] @ w_k[:, own].T
    scores = asked.reshape(batch, -1, width) @ _transposed(key) / math.sqrt(width // heads)
    scores = scores.reshape(batch, heads, queries, keys)
    return _softmax(scores if case.mask is None else np.where(case.mask.numpy(), scores, -np.inf))


def _softmax(scores: Numbers) -> Numbers:
    """Over the last axis, where hidden scores are -inf; zeros where all of them are."""
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=LOWEST))
    # The largest score adds one to its total. Only a row that sees nothing has less, and stays 0.
    return grown / np.maximum(grown.sum(axis=-1, keepdims=True), 1.0)


def _columns(case: Case) -> list[slice]:
    """The columns that each head owns, d = D/H of them."""
    d = case.query.shape[-1] // case.num_heads
    return [slice(head * d, (head + 1) * d) for head in range(case.num_heads)]


def _numbers(tensor: torch.Tensor) -> Numbers:
    return np.asarray(tensor.numpy(force=True), np.float64)


def _transposed(x: Numbers) -> Numbers:
    """The last two axes swapped."""
    return x.swapaxes(-1, -2)


def _rows(x: Numbers) -> Numbers:
    """[B,N,D] as [B*N,D]."""
    return x.reshape(-1, x.shape[-1])
