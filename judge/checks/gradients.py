"""Gradients of a submission's results, with words for the ways in which they can be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from judge.checks.failures import fail


def gradients(
    outputs: Sequence[torch.Tensor],
    inputs: Mapping[str, torch.Tensor],
    cotangents: Sequence[torch.Tensor],
) -> dict[str, torch.Tensor]:
    """Vector-Jacobian product: for each of `inputs`, the gradient of sum(outputs * cotangents).

    `inputs` are leaves that require gradients, named for the messages. Fails when no output is
    connected to the inputs, or when no gradient reaches one of them.
    """
    pairs = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not pairs:
        fail("The results are detached: no gradient flows from them back to the inputs.")
    found: Sequence[torch.Tensor | None] = torch.autograd.grad(
        [output for output, _ in pairs],
        list(inputs.values()),
        [cotangent for _, cotangent in pairs],
        allow_unused=True,
    )
    reached = {n: grad for n, grad in zip(inputs, found, strict=True) if grad is not None}
    missing = [f"`{name}`" for name in inputs if name not in reached]
    if missing:
        fail(f"No gradient reaches {', '.join(missing)}.")
    return reached
