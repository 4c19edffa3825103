"""Making the call that a frame asks for: a function, or an object made for this one call.

Used beside the submission and, on the problem's own code, in the grader; so that what a known
mistake would have answered is found out by exactly what the submission was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sandbox.arrays import Array, DecodedArguments
from sandbox.protocol import CALL, STATE, Call, Pairs, Ref


@dataclass(frozen=True)
class Called:
    """What a call returned, and its array arguments as far as gradients are concerned.

    `leaves` are the arguments in the order of the frame's views; in the place of a loaded state
    stand the parameters of the object that was made.
    """

    value: object
    leaves: list[Array]


def make_call(names: Mapping[str, object], call: Call, sent: DecodedArguments) -> Called:
    """Do what `call` asks of one of `names`; whatever that raises is let through."""
    function = names.get(call.function)
    if not callable(function):
        raise AttributeError(f"{call.function} is not defined")  # noqa: TRY004  # as a module says
    args = [sent.value(value) for value in call.args]
    kwargs = {name: sent.value(value) for name, value in call.kwargs.items()}
    if call.instance is None:
        return Called(function(*args, **kwargs), list(sent.leaves))
    made = call.instance
    subject = construct(
        function,
        [sent.value(value) for value in made.args],
        {name: sent.value(value) for name, value in made.kwargs.items()},
        None if made.state is None else _state(made.state, sent),
        made.training,
    )
    leaves = list(sent.leaves)
    if made.state is not None:
        _stand_in(leaves, subject, made.state)
    return Called(use(subject, made.method, made.attributes, args, kwargs), leaves)


def construct(
    function: Callable[..., Any],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    state: Mapping[str, torch.Tensor] | None,
    training: bool | None,
) -> Any:
    """An object with a state loaded into it and in a mode, where these are given."""
    subject = function(*args, **kwargs)
    if state is not None:
        _load_state(subject, state)
    if training is not None:
        subject.train(training)
    return subject


def _load_state(subject: object, state: Mapping[str, torch.Tensor]) -> None:
    """Give a module the dtype of a state and load it, strictly."""
    dtypes = [tensor.dtype for tensor in state.values() if tensor.is_floating_point()]
    if dtypes:
        subject.to(dtypes[0])  # type: ignore[attr-defined]  # what is no module says so itself
    subject.load_state_dict(dict(state))  # type: ignore[attr-defined]  # the same


def use(
    subject: object,
    method: str,
    attributes: Sequence[str],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    """Read attributes of an object, or call it or one of its methods."""
    if attributes:
        return tuple(getattr(subject, name) for name in attributes)
    if method == CALL:
        return subject(*args, **kwargs)  # type: ignore[operator]  # what is not callable says so
    result = getattr(subject, method)(*args, **kwargs)
    return dict(result) if method == STATE else result


def _state(state: Pairs, sent: DecodedArguments) -> dict[str, torch.Tensor]:
    tensors = (sent.value(value) for value in state.values)
    return dict(zip(state.keys, tensors, strict=True))  # type: ignore[arg-type]  # as sent by us


def _stand_in(leaves: list[Array], subject: object, state: Pairs) -> None:
    """Put the object's parameters where gradients of what was loaded into them are asked for."""
    named = dict(subject.named_parameters())  # type: ignore[attr-defined]  # has loaded a state
    for name, value in zip(state.keys, state.values, strict=True):
        if isinstance(value, Ref) and name in named:
            leaves[value.index] = named[name]
