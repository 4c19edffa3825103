"""Values with arrays in them, to and from frames. Used on both sides of the runner's socket.

Rules of the border:

* Arguments keep their strides, offsets, aliasing and identity: a tensor passed twice is one
  object over there, two views of one storage share one buffer.
* Results are plain: exactly `torch.Tensor`, `numpy.ndarray`, a numpy scalar, a Python scalar,
  None, or tuples, lists and dicts of those. Conjugate and negative views are resolved, bfloat16
  travels as its bytes. Anything else (a subclass, sparse, meta, quantised or object array, a
  module, ...) becomes a `Strange` that names it; it never crosses.
* What comes back is checked against the payload's true size before anything is allocated.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from sandbox.protocol import (
    CALL,
    MAX_ARRAYS,
    MAX_DIMENSIONS,
    MAX_NESTING,
    Complex,
    Dense,
    DtypeName,
    Instance,
    Items,
    Pairs,
    ProtocolError,
    Ref,
    Strange,
    Value,
    View,
)
from sandbox.text import printable

NumpyArray = np.ndarray
Array = torch.Tensor | NumpyArray

_NAMES = (
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
TORCH_DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _NAMES}
NUMPY_DTYPES: dict[str, np.dtype] = {name: np.dtype(name) for name in _NAMES if name != "bfloat16"}
_TORCH_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}
_NUMPY_KINDS = frozenset("biufc")
_MAX_TEXT = 1 << 16
_MAX_ELEMENTS = 1 << 40
_INT64 = range(-(1 << 63), 1 << 63)
_PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)
_Arrays = (torch.Tensor, np.ndarray)


def numpy_of(tensor: torch.Tensor) -> NumpyArray:
    """The elements, detached, as a numpy array that shares their memory where it can.

    Those of bfloat16, which numpy lacks, as int16 with the same bits.
    """
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.detach().view(torch.int16)
    return tensor.numpy(force=True)


def _is_lazy(tensor: torch.Tensor) -> bool:
    """Whether its memory holds the conjugate or the negative of what it stands for."""
    return tensor.is_conj() or tensor.is_neg()


class Unsendable(TypeError):
    """A check passed an argument that cannot travel to a submission (a fault of the check)."""


# --- arguments: encoding (in the grader) --------------------------------------------------------


@dataclass
class EncodedArguments:
    """Arguments ready for a frame. `arrays[i]` is the object that `views[i]` describes."""

    args: list[Value] = field(default_factory=list)
    kwargs: dict[str, Value] = field(default_factory=dict)
    views: list[View] = field(default_factory=list)
    buffers: list[bytes] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    instance: Instance | None = None


class _ArgumentEncoder:
    """Collects the arrays of one call: one view an object, one buffer a storage."""

    def __init__(self) -> None:
        self.encoded = EncodedArguments()
        self._views: dict[int, int] = {}
        self._buffers: dict[tuple[str, int], int] = {}
        self._kept: list[torch.Tensor] = []

    def value(self, value: object) -> Value:  # noqa: PLR0911  # one return a kind
        if isinstance(value, _Arrays):
            return Ref(self.array(value))
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, tuple | list):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return Items(kind, [self.value(item) for item in value])  # type: ignore[arg-type]
        if isinstance(value, dict):
            return Pairs([str(key) for key in value], [self.value(v) for v in value.values()])
        if isinstance(value, complex):
            return Complex(value.real, value.imag)
        if isinstance(value, torch.dtype) and value in _TORCH_NAMES:
            return DtypeName(_TORCH_NAMES[value])
        if isinstance(value, np.generic):
            return Ref(self.array(np.asarray(value)))
        raise Unsendable(f"an argument of type {type(value).__name__} cannot be sent")

    def array(self, array: Array) -> int:
        known = self._views.get(id(array))
        if known is not None:
            return known
        view = self._torch(array) if isinstance(array, torch.Tensor) else self._numpy(array)
        self.encoded.views.append(view)
        self.encoded.arrays.append(array)
        index = self._views[id(array)] = len(self.encoded.views) - 1
        return index

    def _torch(self, tensor: torch.Tensor) -> View:
        dtype = _TORCH_NAMES.get(tensor.dtype)
        if dtype is None or tensor.layout is not torch.strided:
            raise Unsendable(f"a {tensor.layout} tensor of {tensor.dtype} cannot be sent")
        plain = tensor.detach().resolve_conj().resolve_neg() if _is_lazy(tensor) else tensor
        self._kept.append(plain)  # or the next one might have its address
        storage = plain.untyped_storage()
        return View(
            kind="torch",
            dtype=dtype,
            shape=tuple(plain.shape),
            strides=plain.stride(),
            offset=int(plain.storage_offset()),
            buffer=self._buffer("torch", storage.data_ptr(), storage.nbytes()),
            requires_grad=tensor.requires_grad,
        )

    def _numpy(self, array: NumpyArray) -> View:
        if array.dtype.name not in NUMPY_DTYPES:
            raise Unsendable(f"a numpy array of {array.dtype} cannot be sent")
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        low, high = np.lib.array_utils.byte_bounds(root)
        return View(
            kind="numpy",
            dtype=array.dtype.name,
            shape=array.shape,
            strides=array.strides,
            offset=array.__array_interface__["data"][0] - low,
            buffer=self._buffer("numpy", low, high - low),
        )

    def _buffer(self, kind: str, address: int, size: int) -> int:
        known = self._buffers.get((kind, address)) if size else None
        if known is not None:
            return known
        self.encoded.buffers.append(ctypes.string_at(address, size) if size else b"")
        index = self._buffers[kind, address] = len(self.encoded.buffers) - 1
        return index


@dataclass(frozen=True)
class Subject:
    """An object to make for one call, as `sandbox.protocol.Instance` has it, with live values."""

    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    state: Mapping[str, torch.Tensor] | None = None
    training: bool | None = None
    method: str = CALL
    attributes: tuple[str, ...] = ()


def encode_arguments(
    args: Sequence[object],
    kwargs: Mapping[str, object] | None = None,
    subject: Subject | None = None,
) -> EncodedArguments:
    """Arguments as values, views and buffers. Raises `Unsendable` for what cannot travel."""
    encoder = _ArgumentEncoder()
    encoder.encoded.args = [encoder.value(value) for value in args]
    encoder.encoded.kwargs = {key: encoder.value(value) for key, value in (kwargs or {}).items()}
    if subject is not None:
        state = subject.state
        encoder.encoded.instance = Instance(
            args=[encoder.value(value) for value in subject.args],
            kwargs={key: encoder.value(value) for key, value in subject.kwargs.items()},
            state=None
            if state is None
            else Pairs(list(state), [encoder.value(tensor) for tensor in state.values()]),
            training=subject.training,
            method=subject.method,
            attributes=list(subject.attributes),
        )
    return encoder.encoded


# --- arguments: decoding (in the runner; the grader is trusted there) ----------------------------


class DecodedArguments:
    """Arrays rebuilt from a frame, over private copies of its buffers.

    The payload itself is kept untouched, so that what the code did to its inputs shows.
    """

    def __init__(
        self, views: Sequence[View], buffer_sizes: Sequence[int], payload: memoryview
    ) -> None:
        whole = np.frombuffer(payload, dtype=np.uint8)
        self._sent: list[NumpyArray] = []
        self._now: list[NumpyArray] = []
        self._storages: list[torch.UntypedStorage] = []
        start = 0
        for size in buffer_sizes:
            sent = whole[start : start + size]
            base = torch.empty(size, dtype=torch.uint8)
            now = base.numpy()
            now[:] = sent
            self._sent.append(sent)
            self._now.append(now)
            self._storages.append(base.untyped_storage())
            start += size
        self.leaves: list[Array] = [self._rebuild(view) for view in views]

    def _rebuild(self, view: View) -> Array:
        if view.kind == "numpy":
            dtype, now = NUMPY_DTYPES[view.dtype], self._now[view.buffer]
            return np.ndarray(view.shape, dtype, now.data, view.offset, view.strides)
        tensor = torch.empty(0, dtype=TORCH_DTYPES[view.dtype])
        tensor.set_(self._storages[view.buffer], view.offset, view.shape, view.strides)
        return tensor.requires_grad_() if view.requires_grad else tensor

    def value(self, value: Value) -> object:
        """The Python value that `value` stands for."""
        return build(value, lambda ref: self.leaves[ref.index])

    def changed_buffers(self) -> list[int]:
        """Indices of the buffers whose bytes are no longer those that were sent."""
        return [
            index
            for index, (sent, now) in enumerate(zip(self._sent, self._now, strict=True))
            if not (sent == now).all()
        ]

    def buffer(self, index: int) -> memoryview:
        """The bytes of a buffer as they are now."""
        return self._now[index].data


# --- results: encoding (in the runner) ----------------------------------------------------------


@dataclass
class EncodedResult:
    """A result ready for a frame. `tensors[i]` is the live object behind `arrays[i]`."""

    value: Value = None
    arrays: list[Dense] = field(default_factory=list)
    buffers: list[memoryview] = field(default_factory=list)
    tensors: list[object] = field(default_factory=list)


class _ResultEncoder:
    def __init__(self) -> None:
        self.encoded = EncodedResult()

    def value(self, value: object, depth: int = 0) -> Value:  # noqa: PLR0911  # the same
        if depth > MAX_NESTING:
            return Strange(_type_name(value), "it is nested too deeply")
        if isinstance(value, torch.Tensor):
            return self._torch(value)
        if value is None or type(value) in (bool, float):
            return value  # type: ignore[return-value]  # narrowed by exact type
        if type(value) is int:
            in_range = value in _INT64
            return value if in_range else Strange("int", "it does not fit into 64 bits")
        if type(value) is str:
            return _text(value)
        if type(value) is complex:
            return Complex(value.real, value.imag)
        if isinstance(value, (tuple, list)):
            return self._items(value, depth)
        if type(value) is dict:
            return self._pairs(value, depth)
        if isinstance(value, np.ndarray | np.generic):
            return self._numpy(value)
        return Strange(_type_name(value), "it is neither an array nor a plain value")

    def _items(self, value: tuple[object, ...] | list[object], depth: int) -> Value:
        if len(value) > MAX_ARRAYS:
            return Strange(_type_name(value), f"it has more than {MAX_ARRAYS} entries")
        kind = "tuple" if isinstance(value, tuple) else "list"
        return Items(kind, [self.value(item, depth + 1) for item in value])  # type: ignore[arg-type]

    def _pairs(self, value: dict[object, object], depth: int) -> Value:
        if len(value) > MAX_ARRAYS or not all(type(key) is str for key in value):
            return Strange("dict", f"it has keys that are not text, or more than {MAX_ARRAYS}")
        keys = [printable(str(key), 256) for key in value]
        return Pairs(keys, [self.value(item, depth + 1) for item in value.values()])

    def _torch(self, tensor: torch.Tensor) -> Value:
        if type(tensor) not in _PLAIN_TENSORS:
            return Strange(_type_name(tensor), "it is a subclass of torch.Tensor")
        if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized:
            return Strange("Tensor", f"its layout is {tensor.layout}, not a dense one")
        if not tensor.is_cpu:
            return Strange("Tensor", f"it is on device {tensor.device}")
        name = _TORCH_NAMES.get(tensor.dtype)
        if name is None:
            return Strange("Tensor", f"its dtype {tensor.dtype} is not supported")
        dense = np.ascontiguousarray(numpy_of(tensor))
        data = dense.reshape(-1).view(np.uint8).data
        return self._add(
            Dense("torch", name, tuple(tensor.shape), bool(tensor.requires_grad)), data, tensor
        )

    def _numpy(self, array: object) -> Value:
        kind = "numpy" if type(array) is np.ndarray else "numpy-scalar"
        if kind == "numpy-scalar" and not isinstance(array, np.generic):
            return Strange(_type_name(array), "it is a subclass of numpy.ndarray")
        plain = np.asarray(array)
        name = plain.dtype.newbyteorder("=").name
        if plain.dtype.kind not in _NUMPY_KINDS or name not in NUMPY_DTYPES:
            return Strange(_type_name(array), f"its dtype {plain.dtype} is not numeric")
        dense = np.ascontiguousarray(plain, dtype=NUMPY_DTYPES[name])
        data = dense.reshape(-1).view(np.uint8).data
        return self._add(Dense(kind, name, plain.shape), data, array)  # type: ignore[arg-type]

    def _add(self, dense: Dense, data: memoryview, live: object) -> Value:
        if len(self.encoded.arrays) >= MAX_ARRAYS or len(dense.shape) > MAX_DIMENSIONS:
            return Strange("array", "there are too many arrays, or too many dimensions")
        self.encoded.arrays.append(dense)
        self.encoded.buffers.append(data)
        self.encoded.tensors.append(live)
        return Ref(len(self.encoded.arrays) - 1)


def encode_result(value: object) -> EncodedResult:
    """Any value as a frame's parts; what cannot cross becomes `Strange`."""
    encoder = _ResultEncoder()
    encoder.encoded.value = encoder.value(value)
    return encoder.encoded


def encode_gradients(
    gradients: Sequence[torch.Tensor | None],
) -> tuple[list[bool], list[Dense], list[memoryview]]:
    """Gradients as presence flags, descriptions and bytes; raises TypeError for odd tensors."""
    encoder = _ResultEncoder()
    for gradient in gradients:
        if gradient is not None and isinstance(strange := encoder.value(gradient), Strange):
            raise TypeError(f"a gradient is a {strange.type_name}: {strange.reason}")
    present = [gradient is not None for gradient in gradients]
    return present, encoder.encoded.arrays, encoder.encoded.buffers


# --- results: decoding (in the grader; nothing here trusts the sender) ---------------------------


def decode_arrays(
    arrays: Sequence[Dense], payload: memoryview
) -> tuple[list[Array | np.generic], memoryview]:
    """Plain arrays from a payload, whose memory they use, and the rest of it.

    Raises `ProtocolError`.
    """
    decoded: list[Array | np.generic] = []
    start = 0
    for dense in arrays:
        item_bytes, size = _item_bytes(dense), _size_bytes(dense)
        if start + size > len(payload):
            raise ProtocolError("the arrays announced are larger than the bytes sent")
        data = payload[start : start + size]
        is_aligned = start % item_bytes == 0
        decoded.append(_decode_array(dense, data if is_aligned else memoryview(bytearray(data))))
        start += size
    return decoded, payload[start:]


def referred_arrays(value: Value) -> set[int]:
    """Indices of the arrays that `value` has in it."""
    match value:
        case Ref(index):
            return {index}
        case Items(_, items) | Pairs(_, items):
            return set().union(*(referred_arrays(item) for item in items))
        case _:
            return set()


def build(  # noqa: PLR0911  # one return a kind
    value: Value, resolve: Callable[[Ref], object], depth: int = 0
) -> object:
    """The Python value that `value` stands for; `Strange` stays as it is.

    Raises `ProtocolError` for nesting beyond the bound.
    """
    if depth > MAX_NESTING:
        raise ProtocolError("a value is nested too deeply")
    match value:
        case Ref():
            return resolve(value)
        case Items(kind, items):
            built = [build(item, resolve, depth + 1) for item in items]
            return tuple(built) if kind == "tuple" else built
        case Pairs(keys, values):
            if len(keys) != len(values):
                raise ProtocolError("a dict has keys without values")
            pairs = zip(keys, values, strict=True)
            return {printable(key): build(item, resolve, depth + 1) for key, item in pairs}
        case Complex(real, imag):
            return complex(real, imag)
        case DtypeName(name):
            return TORCH_DTYPES[name]
        case str():
            return printable(value)
        case _:
            return value


def _item_bytes(dense: Dense) -> int:
    dtypes = TORCH_DTYPES if dense.kind == "torch" else NUMPY_DTYPES
    dtype = dtypes.get(dense.dtype)
    if dtype is None:
        raise ProtocolError(f"unknown dtype {printable(dense.dtype, 40)}")
    return dtype.itemsize


def _size_bytes(dense: Dense) -> int:
    elements = math.prod(dense.shape)
    # Of an empty array, too: its other dimensions are multiplied into strides.
    if (elements or math.prod(max(size, 1) for size in dense.shape)) > _MAX_ELEMENTS:
        raise ProtocolError("an array's dimensions are out of range")
    return elements * _item_bytes(dense)


def _decode_array(dense: Dense, data: memoryview) -> Array | np.generic:
    if dense.dtype == "bool":  # a boolean byte other than 0 and 1 has no defined meaning
        data = memoryview(bytearray(np.frombuffer(data, np.uint8) != 0))
    if dense.kind == "torch":
        dtype = TORCH_DTYPES[dense.dtype]
        if not data:
            return torch.empty(dense.shape, dtype=dtype)
        return torch.frombuffer(data, dtype=dtype).view(dense.shape)
    array = np.frombuffer(data, NUMPY_DTYPES[dense.dtype]).reshape(dense.shape)
    if dense.kind == "numpy":
        return array
    if array.ndim:
        raise ProtocolError("a numpy scalar has dimensions")
    return array[()]


def _text(value: str) -> Value:
    if len(value) > _MAX_TEXT:
        return Strange("str", f"it is longer than {_MAX_TEXT} characters")
    return printable(value)


def _type_name(value: object) -> str:
    return printable(type.__getattribute__(type(value), "__name__"), 200)
