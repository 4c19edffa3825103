"""Runs the lazy parts of numpy and torch once, so that no fork has to.

The first backward pass in a process costs some 200 ms, because kernels, autograd threads and
Python modules are set up on the way. The zygote does all that (`warm_up`); what is left in a fork
is copying the pages that get written, and `touch` does that before the fork is needed.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # its name in every torch program
from torch import nn

_SMALL = (2, 5, 8)  # batch, length, width
_HEADS = 2


def warm_up() -> None:
    """Everything a submission is likely to use first. Starts no thread."""
    torch.set_num_threads(1)
    for dtype, _ in product((torch.float64, torch.float32), range(2)):
        _torch_attention(dtype)
        _torch_modules(dtype)
        _torch_odds(dtype)
    _numpy_basics()
    _fail_once()


def touch() -> None:
    """One small forward and backward, for a fork to make its own copies of the pages."""
    for dtype in (torch.float64, torch.float32):
        _torch_attention(dtype)


def _torch_attention(dtype: torch.dtype) -> None:
    batch, length, width = _SMALL
    x = torch.ones(batch, length, width, dtype=dtype, requires_grad=True)
    w = torch.eye(width, dtype=dtype, requires_grad=True)
    split = (x @ w).reshape(batch, length, _HEADS, width // _HEADS).transpose(1, 2)
    visible = torch.ones(length, length, dtype=torch.bool).tril()
    scores = split @ split.transpose(-2, -1) / width**0.5
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    weights = torch.where(visible, weights, 0.0)
    merged = torch.einsum("bhqk,bhkd->bqhd", weights, split).reshape(batch, length, width)
    kernel = F.scaled_dot_product_attention(split, split, split, attn_mask=visible)
    outputs = (merged @ w, weights, kernel)
    cotangents = [torch.ones_like(output) for output in outputs]
    torch.autograd.grad(outputs, (x, w), cotangents, retain_graph=True, allow_unused=True)
    outputs[0].sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped


def _torch_modules(dtype: torch.dtype) -> None:
    batch, length, width = _SMALL
    x = torch.ones(batch, length, width, dtype=dtype)
    layer = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU()).to(dtype)
    layer.load_state_dict(layer.state_dict())
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.0)
    layer(x).square().mean().backward()
    optimizer.step()


def _torch_odds(dtype: torch.dtype) -> None:
    x = torch.linspace(0, 1, 12, dtype=dtype).reshape(3, 4)
    torch.cat([x, x.flip(0)]).cumsum(0).max(dim=-1)
    torch.stack([x, x]).mean(0).var(dim=0, unbiased=False).sqrt()
    torch.logsumexp(x, -1)
    torch.nan_to_num(x).clamp(0, 1).exp().log1p()
    torch.triu(torch.ones(4, 4, dtype=dtype), diagonal=1).bool().any(dim=-1)
    x.index_select(0, torch.tensor([0])).topk(1)
    torch.bmm(x[None], x.T[None]).allclose(x @ x.T)
    repr(x)


def _numpy_basics() -> None:
    for dtype in (np.float64, np.float32):
        x: np.ndarray[tuple[int, ...], np.dtype[np.floating[Any]]]
        x = np.arange(40).reshape(2, 5, 4).astype(dtype)
        scores = x @ x.swapaxes(-1, -2)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        np.einsum("bqk,bkd->bqd", weights, x)
        np.where(np.tril(np.ones((5, 5), dtype=bool)), scores, -np.inf)
        np.concatenate([x, x]).mean(axis=0)
        repr(x)
    np.random.default_rng(0).normal(size=3)


def _fail_once() -> None:
    """The way of an exception; formatting one imports modules that may be gone later."""
    try:
        torch.ones(2) @ torch.ones(3)
    except RuntimeError:
        traceback.format_exc()
    inspect.signature(F.softmax)
    linecache.checkcache()
    sys.stdout.flush()
