"""The mark of a check, and what can be read off a collected one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import pytest

Function = TypeVar("Function", bound=Callable[..., None])
MARK = "check"


class CheckKind(StrEnum):
    """What a check compares with: one word that the page shows beside it."""

    INTERFACE = "interface"
    ORACLE = "oracle"
    EDGE = "edge"
    PROPERTY = "property"
    GRADIENT = "gradient"
    EXPERIMENT = "experiment"
    UNIT = "unit"
    BOUNDARY = "boundary"
    DIFFERENTIAL = "differential"
    GOLDEN = "golden"  # numbers of another, well-known implementation
    COST = "cost"  # time and memory, measured from outside
    GRADCHECK = "gradcheck"  # gradients against finite differences


class CheckDefinitionError(Exception):
    """A check is not written as it has to be; the message says what is missing and where."""


@dataclass(frozen=True)
class CheckInfo:
    """What a student reads about a check. `id` is ``file stem::function`` (with its parameters)."""

    id: str
    title: str
    kind: str
    why: str


_INFO = pytest.StashKey[CheckInfo]()


def check(*, kind: str, why: str) -> Callable[[Function], Function]:
    """Mark a test function as a check of `kind` (a `CheckKind`); `why` is one sentence.

    Raises `CheckDefinitionError` for an unknown kind.
    """
    if kind not in list(CheckKind):
        raise CheckDefinitionError(f"unknown kind {kind!r}; known: {', '.join(CheckKind)}")
    mark: Callable[[Function], Function] = getattr(pytest.mark, MARK)(kind=kind, why=why)
    return mark


def check_id(item: pytest.Item) -> str:
    """The name of a check inside its problem, the same wherever the files lie."""
    return f"{item.path.stem}::{item.name}"


def describe(item: pytest.Item) -> CheckInfo:
    """What a collected check says of itself; raises `CheckDefinitionError`."""
    if _INFO not in item.stash:
        item.stash[_INFO] = _read(item)
    return item.stash[_INFO]


def _read(item: pytest.Item) -> CheckInfo:
    function = getattr(item, "function", None)
    mark = item.get_closest_marker(MARK)
    where = f"{item.path.name}:{_line_of(item)}: {item.name}"
    sentence = (inspect.getdoc(function) or "").split("\n\n")[0]
    if not sentence:
        raise CheckDefinitionError(f"{where} has no docstring; write what should hold there")
    if mark is None:
        raise CheckDefinitionError(f"{where} is not marked; add @check(kind=..., why=...)")
    title = " ".join(sentence.split())
    return CheckInfo(check_id(item), title, str(mark.kwargs["kind"]), str(mark.kwargs["why"]))


def line_of(item: pytest.Item) -> tuple[Path, int]:
    """The file of a check and the line, from 1, on which its function begins."""
    return item.path, _line_of(item)


def _line_of(item: pytest.Item) -> int:
    return (item.reportinfo()[1] or 0) + 1
