"""The contract: it declares what the reference defines, and everything in it is explained."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from judge.inspection import CONTRACT, PROVIDED, REFERENCE
from judge.proof.lint.paper import Paper
from judge.proof.outcomes import Finding

_EXPLAIN = "name it as `code` in statement.md, or put a comment above it in contract.pyi"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True)
class Name:
    """A public name of the contract, and what to call it in a message."""

    name: str
    line: int
    called: str


def contract(paper: Paper) -> Iterator[Finding]:
    """Every name explained, every entry point and provided name declared as it is defined."""
    source = paper.text(CONTRACT)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        message = f"this is no Python: {error.msg}"
        line = error.lineno or 1
        yield paper.finding(CONTRACT, line, message, "correct the syntax of this line")
        return
    yield from _unexplained(paper, tree, source)
    manifest = paper.problem.manifest
    for name in manifest.entry_points:
        yield from _declared(paper, tree, name, REFERENCE, "entry point")
    for name in manifest.provided_names:
        yield from _declared(paper, tree, name, PROVIDED, "provided name")


# --- explained ----------------------------------------------------------------------------------


def _unexplained(paper: Paper, tree: ast.Module, source: str) -> Iterator[Finding]:
    comments = _comments(source)
    docstrings = [
        ast.get_docstring(node) or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | Definition)
    ]
    code = [piece.text for piece in paper.statement.all("code")]
    words = set(re.findall(r"\w+", "\n".join([*code, *comments.values(), *docstrings])))
    seen: set[str] = set()
    for each in _public(tree):
        if each.name in words or each.called in seen or _is_commented(each.line, source, comments):
            continue
        seen.add(each.called)
        yield paper.finding(CONTRACT, each.line, f"{each.called} is explained nowhere", _EXPLAIN)


def _comments(source: str) -> dict[int, str]:
    """Comments by line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _is_commented(line: int, source: str, comments: dict[int, str]) -> bool:
    """Whether there is a comment on the line, or above the lines that it stands among."""
    lines = source.splitlines()
    while line > 1 and line not in comments and _declares_attribute(lines[line - 2]):
        line -= 1
    return line in comments or line - 1 in comments


def _declares_attribute(line: str) -> bool:
    return re.match(r"\s+\w+\s*:", line) is not None


def _public(parent: ast.Module | ast.ClassDef) -> Iterator[Name]:
    """The names a reader of the stubs meets, in order."""
    owner = f"{parent.name}." if isinstance(parent, ast.ClassDef) else ""
    for node in parent.body:
        if isinstance(node, Function):
            if not node.name.startswith("_"):
                yield Name(node.name, node.lineno, f"`{owner}{node.name}`")
            if not node.name.startswith("_") or node.name.endswith("__"):
                for argument in _parameters(node, is_method=bool(owner)):
                    called = f"the parameter `{argument.arg}` of `{owner}{node.name}`"
                    yield Name(argument.arg, argument.lineno, called)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield Name(node.name, node.lineno, f"`{node.name}`")
            yield from _public(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if not name.startswith("_"):
                yield Name(name, node.lineno, f"`{owner}{name}`")


# --- declared -----------------------------------------------------------------------------------


def _declared(paper: Paper, tree: ast.Module, name: str, file: str, what: str) -> Iterator[Finding]:
    stub = _find(tree, name)
    if stub is None:
        yield paper.finding(
            CONTRACT, 1, f"the {what} `{name}` is not declared",
            f"declare it here, with the parameters that it has in {file}",
        )  # fmt: skip
        return
    defined = _find(ast.parse(paper.text(file)), name)
    if isinstance(stub, Function) and isinstance(defined, Function):
        yield from _same_parameters(paper, stub, defined, name, file)
    elif isinstance(stub, ast.ClassDef) and isinstance(defined, ast.ClassDef):
        yield from _same_methods(paper, stub, defined, file)
    elif isinstance(stub, Definition) and isinstance(defined, Definition):
        yield paper.finding(
            CONTRACT, stub.lineno, f"`{name}` is a function on one side and a class on the other",
            f"declare it as {file} defines it",
        )  # fmt: skip


def _same_methods(
    paper: Paper, stub: ast.ClassDef, defined: ast.ClassDef, file: str
) -> Iterator[Finding]:
    own = {node.name: node for node in defined.body if isinstance(node, Function)}
    for method in stub.body:
        if not isinstance(method, Function):
            continue
        name = f"{stub.name}.{method.name}"
        if method.name in own:
            yield from _same_parameters(paper, method, own[method.name], name, file, is_method=True)
        elif not defined.bases:
            yield paper.finding(
                CONTRACT, method.lineno, f"{file} does not define `{name}`",
                "define it there, or remove it here",
            )  # fmt: skip


def _same_parameters(
    paper: Paper,
    stub: Function,
    defined: Function,
    name: str,
    file: str,
    *,
    is_method: bool = False,
) -> Iterator[Finding]:
    declared, real = (_signature(node, is_method=is_method) for node in (stub, defined))
    if declared != real:
        yield paper.finding(
            CONTRACT, stub.lineno, f"`{name}({declared})` is `{name}({real})` in {file}",
            "give both the same parameters: their names, their order, and which have defaults",
        )  # fmt: skip


def _signature(function: Function, *, is_method: bool) -> str:
    """Names, order and sort of parameters, and which have a default: "x, *, scale=..."."""
    text = ast.unparse(_bare(function.args))
    return text.partition(", ")[2] if is_method and not _is_static(function) else text


def _is_static(function: Function) -> bool:
    return any(ast.unparse(each) == "staticmethod" for each in function.decorator_list)


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Without annotations, and with all defaults alike."""
    unknown = ast.Constant(...)
    return ast.arguments(
        posonlyargs=[ast.arg(each.arg) for each in arguments.posonlyargs],
        args=[ast.arg(each.arg) for each in arguments.args],
        vararg=arguments.vararg and ast.arg(arguments.vararg.arg),
        kwonlyargs=[ast.arg(each.arg) for each in arguments.kwonlyargs],
        kw_defaults=[default and unknown for default in arguments.kw_defaults],
        kwarg=arguments.kwarg and ast.arg(arguments.kwarg.arg),
        defaults=[unknown for _ in arguments.defaults],
    )


def _find(tree: ast.Module, dotted: str) -> ast.stmt | None:
    """What binds a name, which may be that of a method; the last one when there are several."""
    body: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in dotted.split("."):
        found = next((node for node in reversed(body) if name in _bound(node)), None)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return found


def _bound(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name for alias in node.names]
        case _:
            return []


def _parameters(function: Function, *, is_method: bool) -> list[ast.arg]:
    """All but `self`, in order."""
    own = function.args
    positional = [*own.posonlyargs, *own.args]
    stars = [each for each in (own.vararg, own.kwarg) if each is not None]
    taken = 1 if is_method and not _is_static(function) else 0
    return [*positional[taken:], *own.kwonlyargs, *stars]
