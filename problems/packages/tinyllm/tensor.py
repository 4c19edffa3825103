"""Arrays that remember how they were computed, and so know their gradients.

Theory of operation
-------------------
A `Tensor` holds a numpy array. One that an operation returns also holds the tensors it was computed
from, and a function that turns a gradient of the result into gradients of these. `Tensor.backward`
walks that graph from the result to its leaves, each tensor after everything that was computed from
it, adding up what arrives on different ways. The two are its `parents` and its `pullback`.

Operands are broadcast as numpy does it. A gradient that arrives in the broadcast shape is summed
back to the operand's own, in one place (`_reduced`), so that no operation has to think of it.

Only leaves keep a gradient: tensors that were made with ``requires_grad=True``. The graph survives
`backward`, a second call adds to the gradients of the first.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]
Axis = int | tuple[int, ...] | None
Operand: TypeAlias = "Tensor | ArrayLike"
Pullback = Callable[[Array], Sequence[Array]]

_recording: ContextVar[bool] = ContextVar("recording", default=True)


@contextmanager
def no_grad() -> Generator[None]:
    """Inside, results remember nothing and need no gradients."""
    before = _recording.set(False)
    try:
        yield
    finally:
        _recording.reset(before)


class Tensor:
    """An array of float32 or float64 that can be differentiated.

    `data` is copied. A float64 array stays float64; everything else (Python's numbers, lists, whole
    numbers, other floats) becomes float32, unless `dtype` asks for float64. Raises TypeError for a
    Tensor and for any other `dtype`.

    In an operation with a tensor a single number takes the tensor's dtype; of two arrays the wider
    dtype wins.
    """

    # numpy's arrays leave ``array + tensor`` to Tensor instead of taking it apart themselves.
    __array_ufunc__ = None

    def __init__(
        self, data: ArrayLike, requires_grad: bool = False, dtype: DTypeLike | None = None
    ) -> None:
        kind = np.dtype(dtype) if dtype is not None else _natural_dtype(data)
        if kind not in (np.float32, np.float64):
            raise TypeError(f"a Tensor is float32 or float64, not {kind}")
        self.data: Array = np.array(data, dtype=kind)
        self.grad: Array | None = None
        self.requires_grad = requires_grad
        self.parents: tuple[Tensor, ...] = ()
        self.pullback: Pullback | None = None

    # --- what it is ----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.data.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.data.dtype

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        grad = ", requires_grad=True" if self.requires_grad else ""
        return f"Tensor({np.array2string(self.data, separator=', ', prefix='Tensor(')}{grad})"

    def __array__(self, *_: object, **__: object) -> Array:
        raise TypeError("numpy would lose the gradients of a Tensor; use its .data or .numpy()")

    def numpy(self) -> Array:
        """A copy of the numbers."""
        return self.data.copy()

    def item(self) -> float:
        """The single entry as a number; raises ValueError when there are more."""
        return float(self.data.item())

    def detach(self) -> Tensor:
        """The same numbers, in the same memory, without their history."""
        return _made(self.data)

    # --- gradients -----------------------------------------------------------------------------

    def backward(self, grad: ArrayLike | None = None) -> None:
        """Add to the `grad` of every leaf the gradient of sum(self * grad).

        `grad` has the shape of this tensor and may be left out for a single number. Raises
        ValueError for another shape, RuntimeError when there is nothing to differentiate.
        """
        if not self.requires_grad:
            raise RuntimeError("nothing that this tensor was computed from requires a gradient")
        if grad is None and self.size != 1:
            raise ValueError(f"a tensor of shape {self.shape} needs `grad`, of the same shape")
        start = np.ones(self.shape) if grad is None else np.asarray(grad)
        if start.shape != self.shape:
            raise ValueError(f"`grad` has shape {start.shape}, the tensor has {self.shape}")
        arrived = {id(self): start.astype(self.dtype)}
        for tensor in _from_result_to_leaves(self):
            here = arrived.pop(id(tensor))
            if tensor.pullback is None:
                tensor.grad = here.copy() if tensor.grad is None else tensor.grad + here
                continue
            for parent, part in zip(tensor.parents, tensor.pullback(here), strict=True):
                if parent.requires_grad:
                    own = _reduced(part, parent.shape).astype(parent.dtype, copy=False)
                    before = arrived.get(id(parent))
                    arrived[id(parent)] = own if before is None else before + own

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    # --- arithmetic, entry by entry ------------------------------------------------------------

    def __add__(self, other: Operand) -> Tensor:
        a, b = _operands(self, other)
        return _made(a.data + b.data, (a, b), lambda g: (g, g))

    def __mul__(self, other: Operand) -> Tensor:
        a, b = _operands(self, other)
        return _made(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data))

    def __sub__(self, other: Operand) -> Tensor:
        a, b = _operands(self, other)
        return _made(a.data - b.data, (a, b), lambda g: (g, -g))

    def __truediv__(self, other: Operand) -> Tensor:
        a, b = _operands(self, other)
        quotient = a.data / b.data
        return _made(quotient, (a, b), lambda g: (g / b.data, -g * quotient / b.data))

    def __pow__(self, exponent: float) -> Tensor:
        """To the power of a fixed number."""
        power = float(exponent)

        def pullback(g: Array) -> Sequence[Array]:
            # At 0 the slope of the constant x ** 0 would be 0 * 0 ** -1.
            return (g * power * self.data ** (power - 1) if power else np.zeros_like(g),)

        return _made(self.data**power, (self,), pullback)

    def __neg__(self) -> Tensor:
        return _made(-self.data, (self,), lambda g: (-g,))

    def __radd__(self, other: Operand) -> Tensor:
        return self + other

    def __rmul__(self, other: Operand) -> Tensor:
        return self * other

    def __rsub__(self, other: Operand) -> Tensor:
        return -self + other

    def __rtruediv__(self, other: Operand) -> Tensor:
        a, b = _operands(other, self)
        return a / b

    def exp(self) -> Tensor:
        """The exponential function."""
        result = np.exp(self.data)
        return _made(result, (self,), lambda g: (g * result,))

    def log(self) -> Tensor:
        """The natural logarithm."""
        return _made(np.log(self.data), (self,), lambda g: (g / self.data,))

    def sqrt(self) -> Tensor:
        """The square root."""
        result = np.sqrt(self.data)
        return _made(result, (self,), lambda g: (g / (2 * result),))

    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
        result = np.tanh(self.data)
        return _made(result, (self,), lambda g: (g * (1 - result * result),))

    def relu(self) -> Tensor:
        """Negative entries become zero; the slope at zero is zero."""
        positive = self.data > 0
        return _made(np.maximum(self.data, 0), (self,), lambda g: (g * positive,))

    def masked_fill(self, mask: ArrayLike, value: float) -> Tensor:
        """`value` where `mask` is True; no gradient passes there, whatever it is.

        `mask` is boolean (TypeError) and can be broadcast to this shape (ValueError).
        """
        hidden = _boolean(mask, "a mask")
        try:
            hidden = np.broadcast_to(hidden, self.shape)
        except ValueError:
            message = f"a mask of shape {hidden.shape} cannot be broadcast to {self.shape}"
            raise ValueError(message) from None
        filled = np.where(hidden, self.dtype.type(value), self.data)
        return _made(filled, (self,), lambda g: (np.where(hidden, 0, g),))

    # --- matrices ------------------------------------------------------------------------------

    def __matmul__(self, other: Operand) -> Tensor:
        """The matrix product over the last two axes; leading axes are broadcast."""
        a, b = _operands(self, other)
        if a.ndim == 1:
            row = a.reshape(1, -1) @ b
            return row[..., 0, :] if b.ndim > 1 else row[0]
        if b.ndim == 1:
            return (a @ b.reshape(-1, 1))[..., 0]

        def pullback(g: Array) -> Sequence[Array]:
            return g @ b.data.swapaxes(-1, -2), a.data.swapaxes(-1, -2) @ g

        return _made(a.data @ b.data, (a, b), pullback)

    def __rmatmul__(self, other: Operand) -> Tensor:
        a, b = _operands(other, self)
        return a @ b

    # --- along axes ----------------------------------------------------------------------------

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The total along `axis`, or of everything."""

        def pullback(g: Array) -> Sequence[Array]:
            return (np.broadcast_to(_kept(g, axis, keepdims), self.shape),)

        return _made(self.data.sum(axis=axis, keepdims=keepdims), (self,), pullback)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The average along `axis`, or of everything."""
        total = self.sum(axis, keepdims)
        return total / (self.size / total.size)

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """The largest entry along `axis`, or of all; equal ones share the gradient evenly."""
        largest = self.data.max(axis=axis, keepdims=True)

        def pullback(g: Array) -> Sequence[Array]:
            chosen = self.data == largest
            share = chosen / chosen.sum(axis=axis, keepdims=True)
            return (share * _kept(g, axis, keepdims),)

        return _made(self.data.max(axis=axis, keepdims=keepdims), (self,), pullback)

    def softmax(self, axis: int = -1) -> Tensor:
        """exp(x) / sum(exp(x)) along `axis`, stable for large entries.

        Entries of -inf get exactly zero; where all are -inf the result is NaN.
        """
        grown = np.exp(self.data - self.data.max(axis=axis, keepdims=True))
        result = grown / grown.sum(axis=axis, keepdims=True)

        def pullback(g: Array) -> Sequence[Array]:
            return (result * (g - (g * result).sum(axis=axis, keepdims=True)),)

        return _made(result, (self,), pullback)

    # --- shape ---------------------------------------------------------------------------------

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The same entries, in the same order, under other axes; one length may be -1."""
        result = self.data.reshape(_flat(shape))
        return _made(result, (self,), lambda g: (g.reshape(self.shape),))

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """Axes in another order: `axes` names the old place of each; without any, reversed."""
        order = _flat(axes) or tuple(range(self.ndim))[::-1]
        back = np.argsort([axis % self.ndim for axis in order])
        return _made(self.data.transpose(order), (self,), lambda g: (g.transpose(back),))

    def swapaxes(self, a: int, b: int) -> Tensor:
        """Two axes in each other's place."""
        return _made(self.data.swapaxes(a, b), (self,), lambda g: (g.swapaxes(a, b),))

    @property
    def T(self) -> Tensor:  # noqa: N802  # as numpy calls it
        """All axes reversed."""
        return self.transpose()

    def __getitem__(self, index: Any) -> Tensor:
        """Entries by any of numpy's indices: numbers, slices, arrays of numbers or truth values."""

        def pullback(g: Array) -> Sequence[Array]:
            whole = np.zeros(self.shape, g.dtype)
            np.add.at(whole, index, g)  # an entry that was taken twice gets both gradients
            return (whole,)

        return _made(self.data[index], (self,), pullback)


# --- functions of several tensors -----------------------------------------------------------------


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors one after another along `axis`."""
    ends = np.cumsum([tensor.shape[axis] for tensor in tensors])[:-1]
    joined = np.concatenate([tensor.data for tensor in tensors], axis=axis)
    return _made(joined, tuple(tensors), lambda g: np.split(g, ends, axis=axis))


def where(condition: ArrayLike, a: Operand, b: Operand) -> Tensor:
    """`a` where `condition` is True, else `b`; all three are broadcast.

    Raises TypeError for a condition that is not boolean.
    """
    chosen = _boolean(condition, "a condition")
    one, other = _operands(a, b)
    return _made(
        np.where(chosen, one.data, other.data),
        (one, other),
        lambda g: (np.where(chosen, g, 0), np.where(chosen, 0, g)),
    )


# --- what the operations share --------------------------------------------------------------------


def _made(
    data: Array, parents: tuple[Tensor, ...] = (), pullback: Pullback | None = None
) -> Tensor:
    """The result of an operation: `data` as it is, and its history where that is needed."""
    result = Tensor.__new__(Tensor)
    result.data = np.asarray(data)
    result.grad = None
    needed = _recording.get() and any(parent.requires_grad for parent in parents)
    result.requires_grad = needed
    result.parents = parents if needed else ()
    result.pullback = pullback if needed else None
    return result


def _from_result_to_leaves(result: Tensor) -> list[Tensor]:
    """All tensors that need gradients, each before those it was computed from."""
    order: list[Tensor] = []
    seen: set[int] = set()
    # Depth first, without recursion: a graph may be deeper than Python's stack.
    stack = [(result, False)]
    while stack:
        tensor, is_finished = stack.pop()
        if is_finished:
            order.append(tensor)
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            stack.append((tensor, True))
            stack.extend((parent, False) for parent in tensor.parents if parent.requires_grad)
    return order[::-1]


def _reduced(gradient: Array, shape: tuple[int, ...]) -> Array:
    """`gradient` summed over the axes along which an operand of `shape` was repeated."""
    if gradient.shape == shape:
        return gradient
    added = gradient.ndim - len(shape)
    repeated = [i + added for i, n in enumerate(shape) if n == 1 and gradient.shape[i + added] > 1]
    total: Array = gradient.sum(axis=(*range(added), *repeated))
    return total.reshape(shape)


def _kept(gradient: Array, axis: Axis, keepdims: bool) -> Array:
    """The gradient of a reduction, with the reduced axes back as axes of length one."""
    return gradient if keepdims or axis is None else np.expand_dims(gradient, axis)


def _operands(a: Operand, b: Operand) -> tuple[Tensor, Tensor]:
    """Both as tensors; a single number takes the dtype of the other."""
    return _lifted(a, like=b), _lifted(b, like=a)


def _lifted(value: Operand, like: Operand) -> Tensor:
    if isinstance(value, Tensor):
        return value
    is_number = isinstance(value, numbers.Real | np.generic)
    return Tensor(value, dtype=like.dtype if is_number and isinstance(like, Tensor) else None)


def _natural_dtype(data: Any) -> np.dtype[Any]:
    if isinstance(data, Tensor):
        raise TypeError("this is a Tensor already; detach() gives it without its history")
    is_double = isinstance(data, np.ndarray | np.generic) and data.dtype == np.float64
    return np.dtype(np.float64 if is_double else np.float32)


def _boolean(values: ArrayLike, what: str) -> Array:
    array = np.asarray(values)
    if array.dtype != np.bool_:
        raise TypeError(f"{what} is an array of truth values, not of {array.dtype}")
    return array


def _flat(numbers_or_sequence: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    """``f(2, 3)`` and ``f((2, 3))`` mean the same."""
    flat: list[int] = []
    for each in numbers_or_sequence:
        flat.extend(each if isinstance(each, Sequence) else [each])
    return tuple(flat)
