"""What a student's own tests may use: looked for in their source, before any of it runs.

Theory of operation
-------------------
Tests are there to call what is under test and to look at what it answers. A suite that could read
its source instead, or count how often it has been run, could tell a right implementation from a
wrong one without testing anything. So tests may import a few modules and use plain Python; what
leads to frames, code, files or clocks is refused, with the line and what to do instead.

A scan of the source can be got around, by names that are put together while running. What it names
is therefore also missing when the tests run (`sandbox.runner.own_modules`), each run is a process
of its own that finds nothing of the one before, and what is under test never looks the same twice.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sandbox.protocol import CodeFrame, Failure
from sandbox.runner.failures import source_line

# Of Python's own names, those that reach beyond values.
FORBIDDEN_BUILTINS = frozenset(
    {
        *("__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "getattr"),
        *("globals", "input", "locals", "memoryview", "open", "setattr", "vars"),
        *("copyright", "credits", "exit", "help", "license", "quit"),
    }
)
PYTEST_NAMES = frozenset({"approx", "fail", "fixture", "mark", "param", "raises", "warns"})
PYTEST_MARKS = frozenset({"parametrize", "usefixtures"})
# What numpy offers for files, memory and information about itself.
NUMPY_NAMES = frozenset(
    {
        *("DataSource", "fromfile", "fromregex", "genfromtxt", "get_include", "info"),
        *("load", "loadtxt", "lookfor", "memmap", "save", "savetxt", "savez"),
        *("savez_compressed", "show_config", "show_runtime", "source", "test"),
    }
)
_SPECIAL_NAMES = frozenset({"__name__", "__init__", "__debug__"})
_SPECIAL_METHODS = frozenset(
    f"__{name}__"
    for name in (
        *("init", "post_init", "repr", "str", "bool", "hash", "call", "enter", "exit"),
        *("eq", "ne", "lt", "le", "gt", "ge", "abs", "neg", "pos", "invert", "float", "int"),
        *("len", "iter", "next", "contains", "getitem", "setitem", "reversed"),
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
        *("radd", "rsub", "rmul", "rmatmul", "rtruediv", "and", "or", "xor"),
    )
)
# Classes whose one pattern by position is the value itself.
_MATCHED_WHOLE = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)
_FRAMES = "It leads to frames and code. Compare the values that are returned or raised."
_FILES = "There are no files here: write the numbers into the test."
_TEXT = 'Write an f-string instead: f"{value}".'
_CODE_KINDS = (
    *(types.CodeType, types.FrameType, types.TracebackType, types.GeneratorType),
    *(types.CoroutineType, types.AsyncGeneratorType),
)
_CODE_NAME = re.compile(r"(tb|f|gi|co|cr|ag)_\w+")
_ATTRIBUTES = {
    **{name: _FRAMES for kind in _CODE_KINDS for name in vars(kind) if _CODE_NAME.fullmatch(name)},
    **dict.fromkeys(("getrepr", "mro", "tb", "traceback", "with_traceback"), _FRAMES),
    **dict.fromkeys(("frame", "pluginmanager", "rootpath", "test_case"), _FRAMES),
    **dict.fromkeys(("cffi", "ctypes", "dump", "dumps", "tofile"), _FILES),
    **dict.fromkeys(("format", "format_map"), _TEXT),
}
_IS_SPECIAL = re.compile(r"__\w+__")


@dataclass(frozen=True)
class Breach:
    """A rule that is broken: the sentence that says so, and where."""

    sentence: str
    line: int

    def failure(self, file: str, source: bytes) -> Failure:
        """As it is told, with file and line."""
        text = source_line(source, self.line).strip()
        said = f"{file}, line {self.line}: {self.sentence}"
        return Failure("RuleBroken", [], said, [CodeFrame(file, self.line, "", text)])


def find_breach(tree: ast.Module, imports: Collection[str]) -> Breach | None:
    """The first thing in a test file, by line, that tests may not use; None when there is none."""
    found = list(_Scan(tree, imports).breaches())
    return min(found, key=lambda breach: breach.line, default=None)


def allowed_words(imports: Collection[str]) -> str:
    """What to do about an import that is refused."""
    return f"Tests may import {', '.join(imports)}, and nothing else."


def may_import(module: str, names: Collection[str], imports: Collection[str]) -> bool:
    """Whether ``import module``, or with names ``from module import names``, is allowed."""
    if module in imports or module == "__future__":
        return True
    return bool(names) and all(f"{module}.{name}" in imports for name in names)


class _Scan:
    """One file. What a name of the file's own hides is not looked at twice."""

    def __init__(self, tree: ast.Module, imports: Collection[str]) -> None:
        self._tree = tree
        self._imports = imports
        self._bound = frozenset(_bound_names(tree))
        self._numpy = frozenset(_aliases(tree, "numpy"))
        self._pytest = frozenset(_aliases(tree, "pytest"))

    def breaches(self) -> Iterator[Breach]:
        for node in ast.walk(self._tree):
            line = getattr(node, "lineno", 1)
            yield from (Breach(sentence, line) for sentence in self._sentences(node))

    def _sentences(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names):
                yield from self._import([alias.name for alias in names])
            case ast.ImportFrom():
                yield from self._import_from(node)
            case ast.Name(name):
                yield from self._name(name)
            case ast.Attribute(value, name):
                yield from self._attribute(value, name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield from self._function(name)
            case ast.MatchClass(cls, patterns, names):  # a pattern reads attributes
                for name in names:
                    yield from self._attribute(cls, name)
                if patterns and not (isinstance(cls, ast.Name) and cls.id in _MATCHED_WHOLE):
                    yield "A pattern has to name the attributes that it looks at: X(width=3)."
        yield from (
            _special(name)
            for name in _written_names(node)
            if _IS_SPECIAL.fullmatch(name) and name not in _SPECIAL_NAMES
        )

    def _import(self, modules: list[str]) -> Iterator[str]:
        for module in modules:
            if not may_import(module, (), self._imports):
                yield f"`{module}` cannot be imported here. {allowed_words(self._imports)}"

    def _import_from(self, node: ast.ImportFrom) -> Iterator[str]:
        names, module = [alias.name for alias in node.names], node.module or ""
        if node.level:
            yield "Relative imports lead nowhere here: name the module that is under test."
        elif not may_import(module, names, self._imports):
            yield f"`{module}` cannot be imported here. {allowed_words(self._imports)}"
        elif names == ["*"]:
            yield "Import what you use by name instead of `*`."
        elif module != "__future__":
            for name in names:
                yield from self._member(module, name)

    def _name(self, name: str) -> Iterator[str]:
        if name in FORBIDDEN_BUILTINS and name not in self._bound:
            yield (
                f"`{name}` is not available in tests. Call what is under test, and compare what "
                "it returns."
            )

    def _attribute(self, value: ast.expr, name: str) -> Iterator[str]:
        root = value.id if isinstance(value, ast.Name) else ""
        if name.startswith("_"):
            if root not in ("self", "cls") and not _IS_SPECIAL.fullmatch(name):
                yield f"`{name}` is private. Test what the contract names."
        elif (remedy := _ATTRIBUTES.get(name)) is not None:
            yield f"`.{name}` cannot be used in tests. {remedy}"
        elif root in self._numpy:
            yield from self._member("numpy", name)
        elif root in self._pytest:
            yield from self._member("pytest", name)
        elif _is_mark(value, self._pytest) and name not in PYTEST_MARKS:
            yield _mark_words(name)

    def _member(self, module: str, name: str) -> Iterator[str]:
        """What is said about a member of a module."""
        if module == "numpy" and name in NUMPY_NAMES:
            yield f"`numpy.{name}` cannot be used in tests. {_FILES}"
        elif module == "pytest" and name not in PYTEST_NAMES:
            known = ", ".join(sorted(PYTEST_NAMES))
            yield f"`pytest.{name}` cannot be used here: every test has to run. There are {known}."
        elif name.startswith("_"):
            yield f"`{name}` is private. Test what the contract names."

    def _function(self, name: str) -> Iterator[str]:
        if name.startswith("pytest_"):
            yield f"`{name}` would be a hook of pytest: give the function another name."


def mark_breach(name: str, line: int) -> Breach | None:
    """What is wrong with a mark of a test, if anything is."""
    return None if name in PYTEST_MARKS else Breach(_mark_words(name), line)


def fixture_breach(name: str, line: int) -> Breach:
    """What is said of a fixture that tests may not ask for."""
    return Breach(
        f"There is no fixture `{name}` here: pytest's own lead to pytest. Write one of that name, "
        "or repeat the test with `pytest.mark.parametrize`.",
        line,
    )


def _mark_words(name: str) -> str:
    known = " and ".join(sorted(PYTEST_MARKS))
    return f"The mark `{name}` cannot be used here: every test has to run. There are {known}."


def _special(name: str) -> str:
    return f"`{name}` cannot be used in tests. {_FRAMES}"


def _written_names(node: ast.AST) -> Iterator[str]:
    """Every name that a node writes, but those of a class's own special methods."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name) | ast.ClassDef(name):
            yield name
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            if name not in _SPECIAL_METHODS:
                yield name
        case ast.arg(name) | ast.alias(asname=str(name)) | ast.keyword(str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names) | ast.Nonlocal(names) | ast.MatchClass(kwd_attrs=names):
            yield from names


def _bound_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name


def _aliases(tree: ast.Module, module: str) -> Iterator[str]:
    """The names under which a file imports a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == module:
                    yield alias.asname or module


def _is_mark(value: ast.expr, pytest_names: Collection[str]) -> bool:
    match value:
        case ast.Attribute(ast.Name(root), "mark"):
            return root in pytest_names
        case ast.Name("mark"):
            return True
    return False


class PrivateNames(ast.NodeTransformer):
    """Gives every private attribute of a test file a name that nothing else has.

    So a test's own classes keep them, and no object of others has any.
    """

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # as ast calls it
        """``x._y``."""
        node.attr = _private(node.attr)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # the same
        """What a class defines under a private name is such an attribute, too."""
        for statement in node.body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    statement.name = _private(statement.name)
                case ast.Assign(targets):
                    for target in targets:
                        _rename(target)
                case ast.AnnAssign(target):
                    _rename(target)
        return self.generic_visit(node)


def _rename(target: ast.expr) -> None:
    if isinstance(target, ast.Name):
        target.id = _private(target.id)


def _private(name: str) -> str:
    hidden = name.startswith("_") and not _IS_SPECIAL.fullmatch(name)
    return f"private{name}" if hidden else name
