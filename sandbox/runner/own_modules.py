"""What a student's own tests see of Python and of the modules they import, while they run.

A test module has builtins of its own, without the names that reach beyond values, and an import
that gives it facades: modules that hold the public names of real ones, but no other modules, and
none of the names that lead to files. Setting an attribute of a facade changes nothing but the
facade. All of this stands behind the scan of the source, for names that are put together while
running; it is no boundary, and nothing depends on it alone.
"""

from __future__ import annotations
import __future__

import builtins
import importlib
import re
import types
from collections.abc import Collection, Iterator, Mapping, Sequence

import pytest

from sandbox.runner.own_rules import (
    FORBIDDEN_BUILTINS,
    NUMPY_NAMES,
    PYTEST_MARKS,
    PYTEST_NAMES,
    allowed_words,
    may_import,
)

_HIDDEN_BUILTINS = FORBIDDEN_BUILTINS | {"__loader__", "__spec__"}
_PARTS_OF_NUMPY = ("numpy.fft", "numpy.linalg", "numpy.random", "numpy.testing")
# Those that compare; those about exceptions and warnings answer with what leads to unittest.
_ASSERTION = re.compile(r"assert_(?!raises|warns|no_warnings|no_gc_cycles)\w+")
_SHOWN = "{} (for tests)"  # as a name, it keeps Python from looking for what is missing itself


class TestImports:
    """`__import__` for test modules: facades of `allowed` modules, each made once."""

    __test__ = False

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        parts = _PARTS_OF_NUMPY if "numpy" in allowed else ()
        self._shown = frozenset((*allowed, *parts))
        self._facades: dict[str, types.ModuleType] = {}

    def __call__(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002, ARG002  # as Python calls it
        locals: Mapping[str, object] | None = None,  # noqa: A002, ARG002  # the same
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        """What an import statement of a test module gets. Raises ImportError.

        A library written in C imports what it needs by way of whoever called it, with a list of no
        names, which no statement passes; it takes the module from `sys.modules` afterwards.
        """
        if type(fromlist) is list:
            importlib.import_module(name)
            return types.ModuleType(_SHOWN.format(name))
        if level or not may_import(name, fromlist or (), self._allowed):
            raise ImportError(f"{name} cannot be imported here. {allowed_words(self._allowed)}")
        if name == "__future__":
            return __future__
        importlib.import_module(name)
        return self._facade(name if fromlist else name.partition(".")[0])

    def _facade(self, name: str) -> types.ModuleType:
        if name not in self._facades:
            facade = self._facades[name] = types.ModuleType(_SHOWN.format(name))
            vars(facade).update(self._names(name))
        return self._facades[name]

    def _names(self, name: str) -> Iterator[tuple[str, object]]:
        """What a facade holds: public names of the module, and facades of its parts."""
        if name in self._shown:
            yield from _public_names(name)
        prefix = f"{name}."
        for part in sorted({each.removeprefix(prefix) for each in self._shown if prefix in each}):
            child = part.partition(".")[0]
            yield child, self._facade(prefix + child)


class _Mark:
    """`pytest.mark`, as far as tests may use it."""

    def __init__(self) -> None:
        for name in PYTEST_MARKS:
            vars(self)[name] = getattr(pytest.mark, name)


def restricted_builtins(imports: TestImports) -> dict[str, object]:
    """The builtins of test modules."""
    names: dict[str, object] = {
        name: value for name, value in vars(builtins).items() if name not in _HIDDEN_BUILTINS
    }
    return names | {"__import__": imports, "type": _type_of}


def _type_of(value: object) -> type:
    """`type` for tests: it tells what a value is, and makes no classes with ways to look inside."""
    kind = type(value)
    if issubclass(kind, type):
        raise TypeError("tests can ask for the type of a value, not for that of a class")
    return kind


def load_parts() -> None:
    """Import what facades of numpy hold, so that no run has to."""
    for name in _PARTS_OF_NUMPY:
        importlib.import_module(name)


def _public_names(name: str) -> Iterator[tuple[str, object]]:
    module = importlib.import_module(name)
    if name == "pytest":
        yield from ((each, getattr(pytest, each)) for each in PYTEST_NAMES - {"mark"})
        yield "mark", _Mark()
        return
    for key, value in vars(module).items():
        if key.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if name == "numpy" and key in NUMPY_NAMES:
            continue
        if name == "numpy.testing" and not _ASSERTION.fullmatch(key):
            continue
        yield key, value
