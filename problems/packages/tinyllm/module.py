"""Parts of models: objects that own parameters, and other parts.

A part is a class that derives from `Module`, sets its parameters and parts as attributes, and
defines `forward`. The names of parameters are the paths of attributes that lead to them, as in
``encoder.first.weight``, in the order in which the attributes were set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tinyllm.tensor import Array, Tensor


class Parameter(Tensor):
    """A tensor that is trained: it requires a gradient, and a `Module` finds it by its type."""

    def __init__(self, data: ArrayLike, dtype: DTypeLike | None = None) -> None:
        super().__init__(data, requires_grad=True, dtype=dtype)


class Module:
    """The base of all parts of a model.

    `training` says whether the part is being trained (True at first) or used; `train` and `eval`
    set it here and in all parts inside.
    """

    training: bool = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the part computes; each part defines its own."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` returns."""
        return self.forward(*args, **kwargs)

    # --- what is inside ------------------------------------------------------------------------

    def modules(self) -> Iterator[Module]:
        """This part, and all parts inside it, outer ones first."""
        yield self
        for child in vars(self).values():
            if isinstance(child, Module):
                yield from child.modules()

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Every parameter with its name, in the order in which the attributes were set."""
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                yield prefix + name, value
            elif isinstance(value, Module):
                yield from value.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> Iterator[Parameter]:
        """Every parameter once, also where two parts share it."""
        yield from {id(each): each for _, each in self.named_parameters()}.values()

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.zero_grad()

    # --- training and use ----------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and in all parts inside; returns this part."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """The same as ``train(False)``."""
        return self.train(False)

    # --- saving and loading --------------------------------------------------------------------

    def state_dict(self) -> dict[str, Array]:
        """A copy of every parameter's numbers, by name, in order."""
        return {name: parameter.numpy() for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Take the numbers of `state`, by name; float64 arrays make float64 parameters.

        Raises ValueError, and changes nothing, unless the names are exactly those of the parameters
        and every array has the shape of its parameter.
        """
        own = dict(self.named_parameters())
        new = {name: np.asarray(value) for name, value in state.items()}
        wrong = [f"{name} is missing" for name in own if name not in new]
        wrong += [f"{name} is no parameter" for name in new if name not in own]
        wrong += [
            f"{name} has shape {new[name].shape} instead of {parameter.shape}"
            for name, parameter in own.items()
            if name in new and new[name].shape != parameter.shape
        ]
        if wrong:
            raise ValueError(f"cannot load this into {type(self).__name__}: {'; '.join(wrong)}")
        for name, parameter in own.items():
            parameter.data = Tensor(new[name]).data
