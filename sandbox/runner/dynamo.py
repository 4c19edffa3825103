"""Keeps torch's compiler out of a process until somebody wants it.

`torch._dynamo` takes a second to import and 70 MB, and nothing can be compiled in a box. Yet torch
imports it for good in such plain things as `torch.manual_seed` and the step of an optimizer, only
to tell it to stay out of them. Here that is said without it. Whoever wants anything else of it, as
`torch.compile` does, gets the real one.

This relies on how torch does it inside. Where another version does it otherwise, it is imported as
ever: slower, and not wrong.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import types
from typing import Any

import torch

_NAME = "torch._dynamo"
_ASKED_FOR = "__dynamo_disable"  # where torch keeps what it calls instead of a function


def keep_away() -> None:
    """To be called once, when torch has been imported and nothing of it was used."""
    if _NAME in sys.modules:
        return
    _stay_out_of_functions()
    stand_in = _StandIn(_NAME)
    sys.modules[_NAME] = stand_in
    torch._dynamo = stand_in  # noqa: SLF001  # where an import would have put it


class _CompiledAutograd:
    """What `torch.func.grad` asks of it: to stay out of a backward pass."""

    _disable = staticmethod(contextlib.nullcontext)

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{_NAME}.compiled_autograd"), name)


class _StandIn(types.ModuleType):
    """The module until more is asked of it than what an optimizer and `torch.func` do."""

    compiled_autograd = _CompiledAutograd()

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Where nothing is compiled this does nothing."""

    def __getattr__(self, name: str) -> Any:
        """Part of the real one, which takes this one's place."""
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(importlib.import_module(_NAME), name)


def _stay_out_of_functions() -> None:
    """Of those that torch never lets be compiled, and wraps in one and the same way."""
    codes = _codes_in(getattr(torch, "_compile", None))
    for wrapper in gc.get_objects():
        if type(wrapper) is types.FunctionType and wrapper.__code__ in codes:
            wrapped = getattr(wrapper, "__wrapped__", None)
            if type(wrapped) is types.FunctionType:
                setattr(wrapped, _ASKED_FOR, wrapped)


def _codes_in(module: types.ModuleType | None) -> list[types.CodeType]:
    """Of the functions that `_disable_dynamo` makes."""
    constants = getattr(getattr(module, "_disable_dynamo", None), "__code__", None)
    if constants is None:
        return []
    return [each for each in constants.co_consts if isinstance(each, types.CodeType)]
