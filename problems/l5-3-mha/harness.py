"""Calls the student's class with plain arrays and hands plain arrays back; it compares nothing.

`options` are the constructor's arguments by name, `state` is what `load_state_dict` takes. Every
function makes a module of its own and puts it into eval mode, unless it says otherwise. The arrays'
dtype, float32 or float64, is that of the computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tinyllm import PCG32, Tensor
from tinyllm.xfmr import mha

Array = NDArray[Any]
Options = Mapping[str, Any]
State = Mapping[str, Array]


def parameters(
    options: Options, seed: int | None = None, stream: str | None = None
) -> dict[str, Array]:
    """The state of a new module.

    Drawn from PCG32(seed), or from its substream `stream`; without a seed from the module's own.
    """
    if seed is None:
        return dict(mha.MultiHeadAttention(**options).state_dict())
    rng = PCG32(seed) if stream is None else PCG32(seed).substream(stream)
    return dict(mha.MultiHeadAttention(**options, rng=rng).state_dict())


def _given(value: Any) -> tuple[Any, ...]:
    """An optional argument, left out where there is nothing to pass."""
    return () if value is None else (value,)


def attend(
    options: Options, state: State, x_q: Array, x_kv: Array | None = None, mask: Any = None
) -> Any:
    """Output and weights; without x_kv the same tensor is both sequences."""
    queries = Tensor(x_q)
    keys = queries if x_kv is None else Tensor(x_kv)
    return _plain(_module(options, state).attend(queries, keys, *_given(mask)))


def forward(
    options: Options, state: State, x_q: Array, x_kv: Array | None = None, mask: Any = None
) -> Any:
    """What calling the module gives."""
    queries = Tensor(x_q)
    keys = queries if x_kv is None else Tensor(x_kv)
    return _plain(_module(options, state)(queries, keys, *_given(mask)))


def sequences_afterwards(
    options: Options, state: State, x_q: Array, x_kv: Array, mask: Any = None
) -> tuple[Array, Array]:
    """The two sequences as `attend` leaves them."""
    queries, keys = Tensor(x_q), Tensor(x_kv)
    _module(options, state).attend(queries, keys, mask)
    return queries.numpy(), keys.numpy()


def gradients(
    options: Options,
    state: State,
    x_q: Array,
    x_kv: Array | None,
    mask: Any,
    d_output: Array,
    d_weights: Array,
) -> dict[str, Array | None]:
    """Gradients of sum(output * d_output) + sum(weights * d_weights), by name.

    To "x_q", to "x_kv" if it is there, and to every parameter; None where none arrives.
    """
    module = _module(options, state)
    leaves = {"x_q": Tensor(x_q, requires_grad=True)}
    if x_kv is not None:
        leaves["x_kv"] = Tensor(x_kv, requires_grad=True)
    output, weights = module.attend(leaves["x_q"], leaves.get("x_kv", leaves["x_q"]), mask)
    for result, cotangent in ((output, d_output), (weights, d_weights)):
        if result.requires_grad:
            result.backward(cotangent)
    return {name: leaf.grad for name, leaf in [*leaves.items(), *module.named_parameters()]}


def split_heads(options: Options, x: Array) -> Any:
    """[B, T, d] -> [B, H, T, dh]."""
    return _plain(mha.MultiHeadAttention(**options).split_heads(Tensor(x)))


def merge_heads(options: Options, x: Array) -> Any:
    """[B, H, T, dh] -> [B, T, d]."""
    return _plain(mha.MultiHeadAttention(**options).merge_heads(Tensor(x)))


def split_and_merge(options: Options, x: Array) -> Any:
    """[B, T, d] -> [B, T, d]: one after the other."""
    module = mha.MultiHeadAttention(**options)
    return _plain(module.merge_heads(module.split_heads(Tensor(x))))


def head_mask(options: Options, mask: Any, B: int, Tq: int, Tk: int) -> Any:
    """The mask as the module gives it to its heads."""
    return _plain(mha.MultiHeadAttention(**options).head_mask(mask, B, Tq, Tk))


def run(
    options: Options,
    state: State,
    x: Array,
    modes: Sequence[str],
) -> list[Any]:
    """Outputs of self-attention on x by one module, a call in each of `modes`, train or eval."""
    module = _module(options, state)
    sequence = Tensor(x)
    outputs = []
    for mode in modes:
        module.train(mode == "train")
        outputs.append(_plain(module(sequence, sequence)))
    return outputs


def load_packed(
    options: Options, state: State, weight: Array, bias: Array | None = None
) -> dict[str, Array]:
    """The state after the packed projection was loaded, and its arrays were then overwritten."""
    module = _module(options, state)
    weight, bias = weight.copy(), None if bias is None else bias.copy()
    module.load_packed_in_proj(weight, *_given(bias))
    # Whoever kept a view of the arrays in place of a copy loses the numbers here.
    weight.fill(np.nan)
    if bias is not None:
        bias.fill(np.nan)
    return dict(module.state_dict())


def _module(options: Options, state: State) -> Any:
    module = mha.MultiHeadAttention(**options)
    module.load_state_dict(state)
    return module.eval()


def _plain(value: Any) -> Any:
    """Tensors as arrays, also inside a tuple or list; anything else as it is."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(each) for each in value)
    return value
