"""Keeps torch's compiler out of a process until somebody wants it.

`torch._dynamo` takes a second to import, and a box has no C compiler, which it needs by default.
Yet torch imports it for good in such plain things as the step of an optimizer, `torch.func.grad`
and activation checkpointing, only to tell it to stay out of them. Here that is said without it.
Whoever asks for anything else of it, as `torch.compile` does, gets the real one.

The answers given here are those that torch 2.13 needs; the tests ask for them on the version in
use. Whatever another one asks for besides is answered by the real one: slower, and not wrong.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import threading
import types
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any
from weakref import WeakSet

import torch

_NAME = "torch._dynamo"
_SETTINGS = f"{_NAME}.config"  # imports nothing of the rest, and stays when the rest comes
_DISABLED = "__dynamo_disable"  # where torch keeps what `disable` answered, to ask only once


def keep_away() -> None:
    """To be called before anything of torch is used, and before `gc.freeze`. Again does nothing."""
    if _NAME in sys.modules:
        return
    stand_in = _StandIn()
    sys.modules[_NAME] = stand_in
    sys.meta_path.insert(0, _Parts(stand_in))
    torch._dynamo = stand_in  # noqa: SLF001  # where an import would have put it


class _CompiledAutograd:
    """What `torch.func.grad` asks of it: to stay out of a backward pass."""

    _disable = staticmethod(contextlib.nullcontext)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(f"{_NAME}.compiled_autograd"), name)


class _StandIn(types.ModuleType):
    """The module until more is asked of it than to stay out, or what its settings are."""

    compiled_autograd = _CompiledAutograd()

    def __init__(self) -> None:
        super().__init__(_NAME)
        self._let_be: WeakSet[types.FunctionType] = WeakSet()
        self.settings: types.ModuleType | None = None  # that the real one is to have
        self._giving_way = threading.Lock()
        self.__path__ = []  # it has parts, which `_Parts` finds
        self.places: Sequence[str] = ()
        spec = importlib.util.find_spec(_NAME)
        if spec is not None and spec.origin is not None:
            self.__spec__, self.__file__ = spec, spec.origin
            self.places = tuple(spec.submodule_search_locations or ())

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Where nothing is compiled this does nothing."""

    def disable(self, *args: Any, **kwargs: Any) -> Any:
        """Told by torch to let a function of its own be: that one as it is.

        Other ways to ask, and others who ask, are for the real one.
        """
        if args and _is_torchs(args[0]):
            with self._giving_way:
                if sys.modules.get(_NAME) is self:
                    self._let_be.add(args[0])
                    return args[0]
        return self.__getattr__("disable")(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Part of the real one, which takes this one's place.

        Who goes through all modules, as `inspect` and `warnings` do, asks for names of Python's own
        and does not want this one.
        """
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
        if name == "config":
            return importlib.import_module(_SETTINGS)
        self.give_way()
        return getattr(importlib.import_module(_NAME), name)

    def give_way(self) -> None:
        """Let the real one be imported, with nothing done before that it would not have done."""
        if _SETTINGS in sys.modules:
            importlib.import_module(_SETTINGS)  # which waits for whoever is loading them
        with self._giving_way:
            if sys.modules.get(_NAME) is not self:
                return
            del sys.modules[_NAME]
            self.settings = sys.modules.pop(_SETTINGS, None)
        try:
            importlib.import_module(_NAME)
        except BaseException:  # there was no memory for it, say: an optimizer works all the same
            sys.modules[_NAME] = self
            if self.settings is not None:
                sys.modules[_SETTINGS] = self.settings
            raise
        with self._giving_way:
            for function in self._let_be:
                vars(function).pop(_DISABLED, None)  # so that the real one is asked


def _is_torchs(function: object) -> bool:
    is_plain = type(function) is types.FunctionType
    return is_plain and (function.__module__ or "").partition(".")[0] == "torch"


class _Parts(MetaPathFinder, Loader):
    """Finds `torch._dynamo.eval_frame` and the like; to load one is to give way.

    The real one imports most of its parts itself, and none may be there twice. So it is also given
    the settings, if they were loaded before: those in which somebody may have set something.
    Finding imports nothing, since Python lets only one thread find anything at a time.
    """

    def __init__(self, stand_in: _StandIn) -> None:
        self._stand_in = stand_in

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,  # noqa: ARG002  # the protocol's signature
    ) -> ModuleSpec | None:
        """Part of the import protocol."""
        is_kept = fullname == _SETTINGS and self._stand_in.settings is not None
        if path is not self._stand_in.__path__ and not is_kept:  # another package's, or its own
            return None
        found = PathFinder.find_spec(fullname, self._stand_in.places)
        if found is None or (fullname == _SETTINGS and not is_kept):
            return found
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Part of the import protocol."""
        part = self._stand_in.settings if spec.name == _SETTINGS else None
        if part is None:
            self._stand_in.give_way()
            part = importlib.import_module(spec.name)
        spec.loader_state = part.__spec__
        return part

    def exec_module(self, module: types.ModuleType) -> None:
        """Part of the import protocol: it has been executed; what it is from is put back."""
        spec = module.__spec__
        if spec is not None and spec.loader is self:
            module.__spec__ = spec.loader_state
