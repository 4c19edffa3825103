"""Names that a submission may not use: looked for in its source, and refused when called.

Theory of operation
-------------------
`find` reads the source as a syntax tree, before any of it runs. Names can be hidden from it, so
`guard` also changes what they stand for: of a Python function, and of every function a class
defines, the code object itself is replaced, which no alias, subclass or `getattr` gets around;
a function written in C has to be an operator of torch, whose kernels are replaced in the
dispatcher. The replaced code reports the rule and ends the process, so that nothing can catch it;
the original is gone from the process, and the files it came from can no longer be read.

What nothing can prevent is that somebody brings the same code along as text of their own.
"""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import torch

from sandbox.protocol import CodeFrame, Forbidden
from sandbox.runner.failures import source_line

Alarm = Callable[[], NoReturn]
_CALL_ME = "what is called instead"
_DISPATCH_KEYS = ("CPU", "NestedTensorCPU", "AutogradCPU", "AutogradNestedTensor")


class UnknownName(Exception):
    """There is nothing of this dotted name that could be guarded."""


@dataclass(frozen=True)
class Use:
    """A forbidden name in a source: its place in the list of rules, and where it stands."""

    rule: int
    frame: CodeFrame


def find(sources: Mapping[str, bytes], forbidden: Sequence[Forbidden]) -> Use | None:
    """The first use of a forbidden name, by way of what the source imports; None without any.

    A name that only looks alike, such as a method of the submission's own, is no use.
    """
    rules = {entry.name: rule for rule, entry in enumerate(forbidden)}
    for file, source in sources.items() if forbidden else ():
        for name, line in _used_names(source):
            if name in rules:
                text = source_line(source, line).strip()
                return Use(rules[name], CodeFrame(file, line, "", text))
    return None


def guard(forbidden: Sequence[Forbidden], report: Callable[[int], NoReturn]) -> None:
    """Make every call of a forbidden name call `report` with the place of its rule instead.

    Raises `UnknownName`.
    """
    sources: dict[str, Alarm] = {}
    for rule, entry in enumerate(forbidden):
        alarm = partial(report, rule)
        guarded = what_is_guarded(entry.name)
        for function in guarded.functions:
            sources[function.__code__.co_filename] = alarm
            _replace_code(function, alarm)
        if guarded.operator:
            _replace_kernels(guarded.operator, alarm)
    if sources:
        _seal(sources)


@dataclass(frozen=True)
class Guarded:
    """What stands for a forbidden name: Python functions, or else an operator of torch."""

    functions: tuple[types.FunctionType, ...] = ()
    operator: str = ""


def what_is_guarded(name: str) -> Guarded:
    """What has to be replaced to forbid a name. Raises `UnknownName` when that cannot be done."""
    subject = resolve(name)
    if isinstance(subject, types.FunctionType):
        return Guarded((subject,))
    if isinstance(subject, type):
        members = vars(subject).values()
        functions = tuple(each for each in members if isinstance(each, types.FunctionType))
        if not functions:
            raise UnknownName(f"{name} has no functions written in Python, so it cannot be guarded")
        return Guarded(functions)
    operator = name.rpartition(".")[2]
    if not name.startswith("torch.") or not hasattr(torch.ops.aten, operator):
        raise UnknownName(f"{name} is neither written in Python nor an operator of torch")
    return Guarded(operator=operator)


def resolve(name: str) -> object:
    """What a dotted name stands for. Raises `UnknownName`."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        try:
            for part in parts[count:]:
                found = getattr(found, part)
        except AttributeError:
            break
        return found
    raise UnknownName(f"there is nothing called {name}")


def _replace_code(function: types.FunctionType, alarm: Alarm) -> None:
    """Let `function`, also under any other name it has, call `alarm` and nothing else.

    The alarm becomes a constant of the new code, so no global variable leads to it. A code object
    fits a function only if it closes over as many variables.
    """
    code = _stub(len(function.__code__.co_freevars))
    constants = tuple(alarm if value == _CALL_ME else value for value in code.co_consts)
    function.__code__ = code.replace(
        co_consts=constants, co_name=function.__name__, co_qualname=function.__qualname__
    )


def _stub(free_variables: int) -> types.CodeType:
    names = [f"free_{number}" for number in range(free_variables)]
    uses = [f"        {name}\n" for name in names]
    lines = [
        "def outer():\n",
        *(f"    {name} = None\n" for name in names),
        "    def stub(*args, **kwargs):\n",
        f"        what = {_CALL_ME!r}\n",
        "        what()\n",
        *uses,
        "    return stub\n",
    ]
    namespace: dict[str, Callable[[], types.FunctionType]] = {}
    exec("".join(lines), namespace)  # noqa: S102  # our own few lines
    return namespace["outer"]().__code__


def _replace_kernels(operator: str, alarm: Alarm) -> None:
    """Let every overload of an operator call `alarm`, for every kind of tensor on the CPU.

    The registrations live as long as their handles, which are made immortal: nothing in the
    process refers to them any more.
    """

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        alarm()

    for overload in getattr(torch.ops.aten, operator).overloads():
        name = operator if overload == "default" else f"{operator}.{overload}"
        for key in _DISPATCH_KEYS:
            handle = torch._C._dispatch_library("IMPL", "aten", key, __file__, 0)  # noqa: SLF001
            with warnings.catch_warnings():  # that a kernel is replaced is what we want
                warnings.simplefilter("ignore")
                handle.impl(name, key, refuse)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(handle))


def _seal(sources: Mapping[str, Alarm]) -> None:
    """Keep the files that guarded functions are from, and what was compiled from them, shut.

    Else their code could be read and run once more. Python cannot take an audit hook away. Files
    that cannot be read are no matter to whoever only wants to show a line of them.
    """
    compiled = [importlib.util.cache_from_source(path) for path in sources]
    shut = {os.path.realpath(path) for path in (*sources, *compiled)}
    names = {path.rpartition("/")[2] for path in shut}
    real, decode = os.path.realpath, os.fsdecode  # kept from before a submission could replace them

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "exec" and isinstance(arguments[0], types.CodeType):
            alarm = sources.get(arguments[0].co_filename)
            if alarm is not None:
                alarm()
        elif event == "open" and isinstance(arguments[0], str | bytes):
            path = decode(arguments[0])
            if path.rpartition("/")[2] in names and real(path) in shut:
                raise PermissionError(f"{path} holds what may not be used here")

    sys.addaudithook(watch)


def _used_names(source: bytes) -> Iterator[tuple[str, int]]:
    """Dotted names that a source uses by way of its imports, with their lines, in no order."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return  # said by the compiler, or so deep that nobody wrote it by hand
    imported = dict(_imported_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (name := _dotted(node, imported)):
            yield name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def _imported_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What the names that imports bind stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _dotted(node: ast.expr, imported: Mapping[str, str]) -> str:
    """The dotted name of a chain of attributes that begins with an import; "" for any other."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, "")
    if isinstance(node, ast.Attribute) and (start := _dotted(node.value, imported)):
        return f"{start}.{node.attr}"
    return ""
