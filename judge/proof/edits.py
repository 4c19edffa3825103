"""The reference as text and as a tree, and edits of it that leave all other text as it is.

What says nothing about what the code computes is never edited: annotations, decorators, texts
with holes in them, what is raised, and what an `assert` says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict)


@dataclass(frozen=True)
class Operator:
    """A way of making mutants: `key` for ids, `words` for people."""

    key: str
    words: str


@dataclass(frozen=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str
    operator: Operator

    def apply(self, source: str) -> str:
        """`source` with the edit made."""
        return source[: self.start] + self.text + source[self.end :]


@dataclass(frozen=True)
class Source:
    """A module that compiles; nodes below are nodes of its `tree`."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The whole module."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """What may be edited, from top to bottom."""
        return tuple(self._open(self.tree))

    @cached_property
    def closed_spans(self) -> tuple[tuple[int, int], ...]:
        """The text that must stay as it is."""
        return tuple(
            self.span(child)
            for node in self.nodes
            for child in _closed_children(node)
            if hasattr(child, "lineno")
        )

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions and methods of the module by their names."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
        return {node.name: node for node in nodes}

    @cached_property
    def modules(self) -> frozenset[str]:
        """Names by which whole modules are imported, such as `np`; also `nn` of torch."""
        found = {"nn", "functional"}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module == "torch.nn":
                found.update(alias.asname or alias.name for alias in node.names)
        return frozenset(found)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def _lines(self) -> list[str]:
        return [f"{line}\n" for line in self.text.split("\n")]  # as Python counts lines

    def offset(self, line: int, column: int) -> int:
        """Of the character `column`, from 0, in `line`, from 1."""
        return self._line_starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where an expression or a statement starts and ends."""
        assert isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.ExceptHandler))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._from_bytes(node.lineno, node.col_offset),
            self._from_bytes(node.end_lineno, node.end_col_offset),
        )

    def extent(self, node: ast.expr, within: ast.expr) -> tuple[int, int]:
        """Like `span`, but with the parentheses around an operand of `within`."""
        (start, end), (first, last) = self.span(node), self.span(within)
        while True:
            before = self.text[first:start].rstrip()
            after = self.text[end:last]
            gap = len(after) - len(after.lstrip())
            if not before.endswith("(") or after[gap : gap + 1] != ")":
                return start, end
            start, end = first + len(before) - 1, end + gap + 1

    def segment(self, node: ast.AST) -> str:
        """Text of an expression or a statement."""
        start, end = self.span(node)
        return self.text[start:end]

    def atom(self, node: ast.expr) -> str:
        """Text of an expression that can stand beside any operator."""
        text = self.segment(node)
        return text if isinstance(node, _ATOMS) else f"({text})"

    def function_around(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose body `node` is in; None at the top level and in a class's body."""
        around = self.parents.get(node)
        while around is not None and not isinstance(around, ast.ClassDef):
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return around
            around = self.parents.get(around)
        return None

    def statement_around(self, start: int, end: int) -> tuple[int, int]:
        """The span of the innermost statement that can stand alone and has this text in it."""
        found = 0, len(self.text)
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            for child in _statements_in(waiting.pop()):
                first, last = self.span(child)
                if first <= start and end <= last:
                    waiting = [child]
                    is_part = isinstance(child, ast.ExceptHandler)
                    if not is_part and not self.text.startswith("elif", first):
                        found = first, last
                    break
        return found

    def parse_edited(self, edit: Edit) -> tuple[int, str]:
        """Where the innermost statement around `edit` starts, and its tree with the edit made.

        Raises SyntaxError. To parse one statement takes a small part of what a module takes.
        """
        start, end = self.statement_around(edit.start, edit.end)
        text = edit.apply(self.text)[start : end + len(edit.text) - (edit.end - edit.start)]
        column = start - self.text.rfind("\n", 0, start) - 1
        before = self.text[start - column : start]
        if before and not before.isspace():  # after a colon, or a semicolon, on the same line
            before = " "
        return start, ast.dump(ast.parse(f"if 1:\n{before}{text}" if before else text))

    def _from_bytes(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if text.isascii():
            return self.offset(line, column)
        return self.offset(line, len(text.encode()[:column].decode()))

    def _open(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        closed = set(map(id, _closed_children(node)))
        for child in ast.iter_child_nodes(node):
            if id(child) not in closed and not isinstance(child, ast.JoinedStr):
                yield from self._open(child)


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """What `node` has in its blocks."""
    parts = (ast.stmt, ast.ExceptHandler)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, parts):
            yield child
        elif isinstance(child, ast.match_case):
            yield from child.body


def _closed_children(node: ast.AST) -> Iterator[ast.AST]:
    """The children of `node` that are never edited."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
            if node.returns is not None:
                yield node.returns
        case ast.ClassDef():
            yield from (*node.decorator_list, *node.bases, *node.keywords)
        case ast.arg() if node.annotation is not None:
            yield node.annotation
        case ast.AnnAssign():
            yield node.annotation
        case ast.Raise():
            yield from ast.iter_child_nodes(node)
        case ast.Assert() if node.msg is not None:
            yield node.msg
    yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.JoinedStr))
