"""Numerical checks of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tinyllm.pcg import PCG32
from tinyllm.tensor import Array, Tensor, no_grad


def gradcheck(
    f: Callable[..., Tensor],
    inputs: Sequence[Tensor | ArrayLike],
    eps: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> bool:
    """Compare the gradients of ``f(*inputs)`` with central differences; returns True.

    `f` returns a tensor of any shape, which is multiplied by a fixed random tensor and summed.
    Inputs are float64 arrays, or float64 tensors that require gradients. Tensors are passed on as
    they are and changed in place for a moment, so that parameters are checked as well, which `f`
    uses without looking at its arguments::

        gradcheck(lambda x, *_: model(x), [x, *model.parameters()])

    Raises AssertionError, naming the input, the entry and both numbers, for the first entry that
    is off by more than atol + rtol * |difference quotient|; ValueError for other inputs.
    """
    tensors = [each if isinstance(each, Tensor) else _leaf(each) for each in inputs]
    for number, tensor in enumerate(tensors):
        if tensor.dtype != np.float64 or not tensor.requires_grad:
            raise ValueError(f"input {number} is not a float64 tensor that requires a gradient")
    cotangent = PCG32(0).substream("gradcheck").normal(f(*tensors).shape)
    found = _backward(f, tensors, cotangent)
    for number, tensor in enumerate(tensors):
        for at in np.ndindex(tensor.shape):
            slope = _central_difference(f, tensors, cotangent, (number, at), eps)
            got = float(found[number][at])
            # Written so that NaN fails.
            if not abs(got - slope) <= atol + rtol * abs(slope):
                raise AssertionError(
                    f"the gradient of input {number} at {list(at)} is {got:.9g}, "
                    f"central differences give {slope:.9g}"
                )
    return True


def _leaf(values: ArrayLike) -> Tensor:
    return Tensor(values, requires_grad=True)


def _backward(f: Callable[..., Tensor], tensors: Sequence[Tensor], cotangent: Array) -> list[Array]:
    """Gradients by `Tensor.backward`, zeros where none arrives; every `grad` stays as it was."""
    before = [tensor.grad for tensor in tensors]
    for tensor in tensors:
        tensor.zero_grad()
    result = f(*tensors)
    if result.requires_grad:
        result.backward(cotangent)
    found = [np.zeros(each.shape) if each.grad is None else each.grad for each in tensors]
    for tensor, grad in zip(tensors, before, strict=True):
        tensor.grad = grad
    return found


def _central_difference(
    f: Callable[..., Tensor],
    tensors: Sequence[Tensor],
    cotangent: Array,
    entry: tuple[int, tuple[int, ...]],
    eps: float,
) -> float:
    number, at = entry
    numbers = tensors[number].data
    here = numbers[at]
    totals = []
    with no_grad():
        for moved in (here + eps, here - eps):
            numbers[at] = moved
            totals.append(float((f(*tensors).data * cotangent).sum()))
    numbers[at] = here
    return (totals[0] - totals[1]) / (2 * eps)
