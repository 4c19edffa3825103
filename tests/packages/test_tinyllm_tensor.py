"""`tinyllm.tensor` against torch: values and gradients of every operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tinyllm import Tensor, concat, no_grad, where

LIMIT = 1e-12
# Applied to tensors of either library; each pair of functions does the same.
MASK = np.array([True, False, True, False])
TORCH_MASK = torch.from_numpy(MASK)
Function = Callable[..., Any]
UNARY: dict[str, tuple[Function, Function]] = {
    "negative": (lambda x: -x, lambda x: -x),
    "plus-number": (lambda x: x + 2, lambda x: x + 2),
    "number-minus": (lambda x: 2 - x, lambda x: 2 - x),
    "times-number": (lambda x: 0.5 * x, lambda x: 0.5 * x),
    "number-divided": (lambda x: 3 / x, lambda x: 3 / x),
    "divided-by-number": (lambda x: x / 3, lambda x: x / 3),
    "squared": (lambda x: x**2, lambda x: x**2),
    "to-the-minus-three": (lambda x: x**-3, lambda x: x**-3),
    "to-the-zero": (lambda x: x**0, lambda x: x**0),
    "exp": (lambda x: x.exp(), lambda x: x.exp()),
    "log": (lambda x: (x * x).log(), lambda x: (x * x).log()),
    "sqrt": (lambda x: (x * x).sqrt(), lambda x: (x * x).sqrt()),
    "tanh": (lambda x: x.tanh(), lambda x: x.tanh()),
    "relu": (lambda x: x.relu(), lambda x: x.relu()),
    "sum": (lambda x: x.sum(), lambda x: x.sum()),
    "sum-axis": (lambda x: x.sum(1), lambda x: x.sum(1)),
    "sum-kept": (lambda x: x.sum(axis=-1, keepdims=True), lambda x: x.sum(-1, keepdim=True)),
    "sum-axes": (lambda x: x.sum(axis=(0, -1)), lambda x: x.sum((0, -1))),
    "mean": (lambda x: x.mean(), lambda x: x.mean()),
    "mean-axis": (lambda x: x.mean(axis=0), lambda x: x.mean(0)),
    "mean-kept": (lambda x: x.mean(axis=(1, 2), keepdims=True), lambda x: x.mean((1, 2), True)),
    "max": (lambda x: x.max(), lambda x: x.amax()),
    "max-axis": (lambda x: x.max(axis=1), lambda x: x.amax(1)),
    "max-kept": (lambda x: x.max(axis=-1, keepdims=True), lambda x: x.amax(-1, keepdim=True)),
    "max-of-equal-ones": (lambda x: (x * 0).max(axis=0), lambda x: (x * 0).amax(0)),
    "softmax": (lambda x: x.softmax(), lambda x: x.softmax(-1)),
    "softmax-axis": (lambda x: x.softmax(axis=0), lambda x: x.softmax(0)),
    "softmax-of-large-numbers": (lambda x: (x * 1e3).softmax(), lambda x: (x * 1e3).softmax(-1)),
    "reshape": (lambda x: x.reshape(4, -1), lambda x: x.reshape(4, -1)),
    "reshape-tuple": (lambda x: x.reshape((2, 12)), lambda x: x.reshape(2, 12)),
    "transpose": (lambda x: x.transpose(1, 2, 0), lambda x: x.permute(1, 2, 0)),
    "transpose-negative": (lambda x: x.transpose((-1, 0, 1)), lambda x: x.permute(2, 0, 1)),
    "transpose-all": (lambda x: x.T, lambda x: x.permute(2, 1, 0)),
    "swapaxes": (lambda x: x.swapaxes(-1, 0), lambda x: x.transpose(-1, 0)),
    "one-entry": (lambda x: x[1, 2, 0], lambda x: x[1, 2, 0]),
    "slices": (lambda x: x[:, 1:, ::2], lambda x: x[:, 1:, ::2]),
    "new-axis": (lambda x: x[..., None, 0], lambda x: x[..., None, 0]),
    "same-row-twice": (lambda x: x[np.array([0, 1, 0])], lambda x: x[[0, 1, 0]]),
    "boolean-index": (lambda x: x[..., MASK], lambda x: x[..., TORCH_MASK]),
    "masked-fill": (lambda x: x.masked_fill(MASK, -7), lambda x: x.masked_fill(TORCH_MASK, -7)),
    "masked-softmax": (
        lambda x: x.masked_fill(MASK, -np.inf).softmax(),
        lambda x: x.masked_fill(TORCH_MASK, -torch.inf).softmax(-1),
    ),
}
BINARY: dict[str, tuple[Function, Function]] = {
    "plus": (lambda x, y: x + y, lambda x, y: x + y),
    "minus": (lambda x, y: x - y, lambda x, y: x - y),
    "times": (lambda x, y: x * y, lambda x, y: x * y),
    "divided": (lambda x, y: x / y, lambda x, y: x / y),
    "where": (lambda x, y: where(MASK, x, y), lambda x, y: torch.where(TORCH_MASK, x, y)),
}
SHAPES = [
    ((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (4,)), ((3, 1), (2, 1, 4)), ((2, 1, 1), (3, 4)),
    ((), (2, 3, 4)), ((1, 4), ()), ((1, 1, 4), (2, 3, 1)),
]  # fmt: skip
PRODUCTS = [
    ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (6, 4, 5)),
    ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,)),
]  # fmt: skip


def numbers(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape)


def assert_same(ours: Function, theirs: Function, *arrays: np.ndarray[Any, Any]) -> None:
    """Values and gradients agree in float64."""
    tensors = [Tensor(array, requires_grad=True) for array in arrays]
    others = [torch.tensor(array, requires_grad=True) for array in arrays]
    got, want = ours(*tensors), theirs(*others)
    assert got.shape == tuple(want.shape)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got.data, want.detach().numpy(), rtol=LIMIT, atol=LIMIT)
    cotangent = np.asarray(numbers(99, *got.shape))
    got.backward(cotangent)
    want.backward(torch.from_numpy(cotangent))
    for tensor, other in zip(tensors, others, strict=True):
        assert tensor.grad is not None
        assert other.grad is not None
        assert tensor.grad.shape == tensor.shape
        assert tensor.grad.dtype == tensor.dtype
        np.testing.assert_allclose(tensor.grad, other.grad.numpy(), rtol=LIMIT, atol=LIMIT)


@pytest.mark.parametrize("name", UNARY)
def test_operation_agrees_with_torch(name: str) -> None:
    assert_same(*UNARY[name], numbers(1, 2, 3, 4))


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_operands_are_broadcast_and_gradients_summed_back(
    name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    if name == "where" and np.broadcast_shapes(*shapes)[-1:] != (4,):
        shapes = ((2, 4), (4,))
    assert_same(*BINARY[name], numbers(1, *shapes[0]), numbers(2, *shapes[1]))


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_matrix_product_agrees_with_torch(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    arrays = numbers(1, *shapes[0]), numbers(2, *shapes[1])
    assert_same(lambda x, y: x @ y, lambda x, y: x @ y, *arrays)


def test_concatenation_agrees_with_torch() -> None:
    arrays = numbers(1, 2, 3), numbers(2, 2, 1), numbers(3, 2, 4)
    assert_same(lambda *x: concat(x, axis=-1), lambda *x: torch.cat(x, dim=-1), *arrays)


def test_where_takes_plain_numbers_on_either_side() -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    where(MASK, x, 9).sum().backward()
    assert where(MASK, 9, x).data.tolist() == [9.0, 2.0, 9.0, 4.0]
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 0.0, 1.0, 0.0]


def test_tensor_used_many_times_gets_all_gradients() -> None:
    def function(x: Any, y: Any) -> Any:
        z = x * y
        return (z * z + x) * z + (x @ x) * z + y

    assert_same(function, function, numbers(1, 3, 3), numbers(2, 3, 3))


def test_long_chain_needs_no_deep_stack() -> None:
    x = Tensor(2.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 1.0


def test_backward_again_adds_to_the_gradient_and_zero_grad_forgets_it() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.backward([1, 1])
    y.backward([1, 1])
    assert x.grad is not None
    assert x.grad.tolist() == [4.0, 8.0]
    x.zero_grad()
    assert x.grad is None


def test_gradient_is_no_view_of_the_cotangent() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    cotangent = np.ones(2, np.float32)
    x.backward(cotangent)
    cotangent[:] = 7
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]


def test_only_leaves_keep_a_gradient() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    constant = Tensor([3.0, 4.0])
    y = x * constant
    y.sum().backward()
    assert y.grad is None
    assert constant.grad is None


def test_backward_says_what_is_wrong() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError, match="needs `grad`"):
        (x * 2).backward()
    with pytest.raises(ValueError, match="has shape"):
        (x * 2).backward(np.ones((1, 2)))
    with pytest.raises(RuntimeError, match="requires a gradient"):
        Tensor(1.0).backward()


def test_nothing_is_remembered_inside_no_grad_and_again_after_an_error() -> None:
    x = Tensor([1.0], requires_grad=True)
    with no_grad():
        assert not (x * 2).requires_grad
        with no_grad():
            pass
        assert not (x * 2).requires_grad
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert (x * 2).requires_grad


def test_detached_tensor_has_the_numbers_and_no_history() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).detach()
    assert not y.requires_grad
    assert y.data.tolist() == [2.0, 4.0]
    (y * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (1, np.float32), (1.5, np.float32), ([1, 2], np.float32), ([[0.5]], np.float32),
        (np.arange(3), np.float32), (np.float64(2), np.float64), (np.ones(2), np.float64),
        (np.ones(2, np.float32), np.float32), (np.ones(2, np.float16), np.float32),
        (np.array([True]), np.float32),
    ],
)  # fmt: skip
def test_dtype_is_float32_unless_a_float64_array_is_given(data: Any, kind: type) -> None:
    assert Tensor(data).dtype == kind
    assert Tensor(data, dtype=np.float64).dtype == np.float64


def test_other_dtypes_and_tensors_are_refused() -> None:
    with pytest.raises(TypeError, match="float32 or float64"):
        Tensor([1], dtype=np.int64)
    with pytest.raises(TypeError, match="Tensor already"):
        Tensor(Tensor(1.0))


def test_numbers_take_the_dtype_of_the_tensor_and_wider_arrays_win() -> None:
    single, double = Tensor([1.0]), Tensor(np.ones(1))
    for number in (2, 2.5, np.float64(2.5), np.sqrt(2)):
        for result in (single * number, number * single, number - single, number / single):
            assert result.dtype == np.float32
        assert (double / number).dtype == np.float64
    assert (single + double).dtype == np.float64
    for result in (np.ones(1) * single, np.ones((1, 1)) @ single, single - np.ones(1)):
        assert isinstance(result, Tensor)
        assert result.dtype == np.float64


def test_gradient_of_a_float32_leaf_is_float32() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * np.ones(2)).sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32


def test_operations_keep_float32() -> None:
    x = Tensor(numbers(1, 2, 3, 4), dtype=np.float32)
    for name, (function, _) in UNARY.items():
        assert function(x).dtype == np.float32, name


def test_data_is_a_copy_and_numpy_gives_one() -> None:
    array = np.ones(2)
    x = Tensor(array)
    array[:] = 5
    x.numpy()[:] = 7
    assert x.data.tolist() == [1.0, 1.0]


def test_numpy_functions_are_refused_instead_of_losing_the_gradient() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError):
        np.exp(x)
    with pytest.raises(TypeError, match="lose the gradients"):
        np.asarray(x)


def test_masks_are_boolean_and_fit() -> None:
    x = Tensor([[1.0, 2.0]])
    with pytest.raises(TypeError, match="truth values"):
        x.masked_fill(np.array([1, 0]), 0)
    with pytest.raises(ValueError, match=r"\(3, 1, 2\) cannot be broadcast to \(1, 2\)"):
        x.masked_fill(np.ones((3, 1, 2), bool), 0)
    with pytest.raises(TypeError, match="truth values"):
        where(np.array([1, 0]), x, x)


def test_no_gradient_passes_a_filled_entry_even_where_it_is_not_finite() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.masked_fill(np.array([True, False]), 0).backward([np.nan, 3])
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 3.0]


def test_tensor_tells_its_form() -> None:
    x = Tensor([[1, 2, 3], [4, 5, 6]], requires_grad=True)
    assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
    assert x[1, 2].item() == 6.0
    assert [row.data.tolist() for row in x] == [[1, 2, 3], [4, 5, 6]]
    assert repr(x).startswith("Tensor([[1., 2., 3.]")
    assert repr(x).endswith("requires_grad=True)")
    with pytest.raises(ValueError, match="size 1"):
        x.item()
