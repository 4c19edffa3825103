"""Arrays reduced to what can be compared without trusting them.

A value is accepted by its exact type only: a subclass could answer any question about itself as
it likes. What is accepted is seen, detached, as a numpy array of a wide dtype.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from judge.checks.failures import fail
from sandbox.protocol import Strange
from sandbox.text import printable

Numbers = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Dtype = torch.dtype | np.dtype[Any] | type[np.generic]
LIBRARY_NAMES = {"torch": "torch tensor", "numpy": "numpy array"}
_KINDS = {
    "NoneType": "None",
    "torch.Tensor": "a torch tensor",
    "ndarray": "a numpy array",
    "tuple": "a tuple",
    "list": "a list",
    "dict": "a dict",
    "str": "text",
    "bool": "a truth value",
    "int": "a number",
    "float": "a number",
    "complex": "a number",
}
_TORCH_TYPES = (torch.Tensor, torch.nn.Parameter)
_WIDE_TORCH = {torch.bfloat16: torch.float64, torch.float16: torch.float64}


@dataclass(frozen=True)
class PlainArray:
    """What an array holds. `dtype` is the original one by name, `numbers` may be wider.

    `numbers` shares the array's memory where it can: for looking at, at once.
    """

    library: Literal["torch", "numpy"]
    dtype: str
    shape: tuple[int, ...]
    numbers: Numbers

    @property
    def is_exact(self) -> bool:
        """True for integers and booleans, which are compared without tolerance."""
        return self.numbers.dtype.kind in "iub"


def plain(value: object, what: str) -> PlainArray:
    """The numbers of an array of either library; fails, in words, for anything else."""
    if type(value) in _TORCH_TYPES:
        return _from_torch(value, what)  # type: ignore[arg-type]  # narrowed by exact type
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return _from_numpy(np.asarray(value), what)
    return fail(f"{capital(what)}: expected an array, found {kind_of(value)}.")


def kind_of(value: object) -> str:
    """What a value is, for a sentence: "None", "a torch tensor", "a list"."""
    if isinstance(value, Strange):
        name, reason = printable(value.type_name, 80), printable(value.reason, 120)
        return f"a value of type {name} that cannot be used ({reason})"
    name = "torch.Tensor" if type(value) in _TORCH_TYPES else type(value).__name__
    return _KINDS.get(name, f"a value of type {printable(name, 80)}")


def dtype_name(dtype: Dtype | str) -> str:
    """A dtype of either library as ``float64``."""
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    return np.dtype(dtype).name


def described(value: object, what: str) -> tuple[str, str, tuple[int, ...]]:
    """Library, dtype and shape of what `plain` accepts; fails, in words, for anything else."""
    if type(value) in _TORCH_TYPES:
        tensor: torch.Tensor = value  # type: ignore[assignment]  # narrowed by exact type
        _refuse_unusual(tensor, what)
        return "torch", dtype_name(tensor.dtype), tuple(tensor.shape)
    array = plain(value, what)
    return array.library, array.dtype, array.shape


def _refuse_unusual(tensor: torch.Tensor, what: str) -> None:
    if tensor.layout is not torch.strided or not tensor.is_cpu:
        found = f"a {tensor.layout} tensor on {tensor.device}"
        fail(f"{capital(what)}: expected an ordinary tensor on the CPU, found {found}.")


def _from_torch(tensor: torch.Tensor, what: str) -> PlainArray:
    _refuse_unusual(tensor, what)
    wide = _WIDE_TORCH.get(tensor.dtype)
    numbers = (tensor if wide is None else tensor.to(wide)).numpy(force=True)
    return PlainArray("torch", dtype_name(tensor.dtype), tuple(tensor.shape), _widened(numbers))


def _from_numpy(array: Numbers, what: str) -> PlainArray:
    if array.dtype.kind not in "biufc":
        fail(f"{capital(what)}: expected numbers, found a numpy array of {array.dtype}.")
    return PlainArray("numpy", array.dtype.name, array.shape, _widened(array))


def _widened(numbers: Numbers) -> Numbers:
    if numbers.dtype.kind == "f":
        return numbers.astype(np.float64, copy=False)
    if numbers.dtype.kind == "c":
        return numbers.astype(np.complex128, copy=False)
    return numbers


def capital(what: str) -> str:
    """`what` as the beginning of a sentence."""
    return what[:1].upper() + what[1:]
