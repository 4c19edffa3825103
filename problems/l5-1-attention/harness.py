"""Between the plain arrays of a check and the tensors and streams of tinyllm.

Options are those of the function, passed on only where a check names them; `seed` stands for the
stream ``PCG32(seed)`` as `rng`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tinyllm import PCG32, Tensor
from tinyllm.xfmr import attention

Array = NDArray[Any]


def attend(q: Array, k: Array, v: Array, **options: Any) -> Any:
    """What the function returns, with arrays in place of tensors."""
    return _plain(_call({"q": q, "k": k, "v": v}, _named(options)))


def attend_twice(q: Array, k: Array, v: Array, **options: Any) -> Any:
    """Two calls after another with one stream."""
    arguments = _named(options)
    return [_plain(_call({"q": q, "k": k, "v": v}, arguments)) for _ in range(2)]


def attend_with_an_array(name: str, q: Array, k: Array, v: Array) -> Any:
    """The same as `attend`, but what is called `name` stays an array."""
    arrays = {"q": q, "k": k, "v": v}
    mixed = {each: array if each == name else Tensor(array) for each, array in arrays.items()}
    return _plain(attention.scaled_dot_product_attention(*mixed.values()))


def types_of_results(q: Array, k: Array, v: Array) -> list[str]:
    """The names of the types of what is returned: of the items of a tuple."""
    result = attention.scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v))
    return [type(each).__name__ for each in result] if isinstance(result, tuple) else []


def differentiate(
    q: Array,
    k: Array,
    v: Array,
    output_cotangent: Array | None,
    weights_cotangent: Array | None,
    **options: Any,
) -> tuple[Any, ...]:
    """The gradients that arrive at q, k and v from both results; None where none does."""
    # One array in several places is one tensor in these places.
    made = {id(array): Tensor(array, requires_grad=True) for array in (q, k, v)}
    tensors = [made[id(array)] for array in (q, k, v)]
    results = attention.scaled_dot_product_attention(*tensors, **_named(options))
    for result, cotangent in zip(results, (output_cotangent, weights_cotangent), strict=True):
        if cotangent is not None and result.requires_grad:
            result.backward(cotangent)
    return tuple(tensor.grad for tensor in tensors)


def _call(arrays: dict[str, Array], options: dict[str, Any]) -> Any:
    tensors = {name: Tensor(array) for name, array in arrays.items()}
    try:
        return attention.scaled_dot_product_attention(*tensors.values(), **options)
    finally:
        # A tensor copies: a change made to it becomes one of the array that the check looks at.
        for name, tensor in tensors.items():
            arrays[name][...] = tensor.data


def _named(options: dict[str, Any]) -> dict[str, Any]:
    seed = options.pop("seed", None)
    return options if seed is None else {**options, "rng": PCG32(seed)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return np.array(value.data) if isinstance(value, Tensor) else value
