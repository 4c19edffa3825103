"""Rewriting an implementation so that it does the same and looks different.

Theory of operation
-------------------
A student's tests run in one process with what they test. Should one of them find a way to look at
it, it must learn nothing about whether this is the reference or a mutant. So every implementation
is rewritten before every run, by edits that preserve what it does:

- Where implementations differ, they differ in the bodies of a few functions. Each gets the bodies
  of all, of which one is alive: the others stand in branches that are never taken. What is written
  in it is therefore the same for the reference and for all mutants.
- Local names are drawn anew, docstrings dropped, statements without effect and branches that are
  never taken put in between, conditions turned round together with their branches, comparisons with
  constants mirrored, results named before they are returned, functions put in another order.

What can be seen from outside stays: names, parameters and annotations of functions and classes, the
order in which a class makes its parts, every operation on values. The source is an author's, and
trusted; that it does the same is shown by the problem's own checks on its disguised reference.
"""

from __future__ import annotations

import ast
import random
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CHANGES_THE_REST = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.ClassDef),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom),
)
_LOOKS_AT_NAMES = frozenset({"dir", "eval", "exec", "locals", "vars"})
_MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
_SWITCHES = 1000
_ONES_WORK = 0.5  # how often an edit that can be made is made
_WORDS = ("axis", "batch", "bias", "dim", "head", "index", "keys", "mask", "rows", "scale", "width")


class Disguises:
    """All implementations that a suite meets; one can be had in as many looks as one likes.

    Those of `alike` differ in little, and get each other's bodies; the `others` are as different as
    they are. All of them compile. Making one takes some milliseconds for each.
    """

    def __init__(self, alike: Sequence[bytes], others: Sequence[bytes] = ()) -> None:
        trees = {source: ast.parse(source) for source in (*alike, *others)}
        self._taken = {name for tree in trees.values() for name in _identifiers(tree)}
        texts = {
            source: {
                name: (ast.dump(function.args), _body_text(function))
                for name, function in _functions(tree)
                if _can_stand_in(function)
            }
            for source, tree in trees.items()
            if source in alike
        }
        self._others = {source: dict(_others(source, texts)) for source in texts}

    def of(self, source: bytes, dice: random.Random) -> bytes:
        """One of the sources, in a look of its own."""
        tree = ast.parse(source)
        fresh = _Fresh(set(self._taken), dice)
        switch = fresh.name(), dice.randrange(_SWITCHES)
        elsewhere = self._others.get(source, {})
        for name, function in list(_functions(tree)):
            others = elsewhere.get(name, ())
            _Rewriting(dice, fresh, switch).function(function, others)
        _Reordering(dice).visit(tree)
        _without_docstring(tree)
        place = _after_future_imports(tree)
        tree.body[place:place] = [
            *_constants(dice, fresh), _assign(switch[0], ast.Constant(switch[1])),
            *_constants(dice, fresh),
        ]  # fmt: skip
        return ast.unparse(tree).encode()


@dataclass
class _Fresh:
    """Names that nothing else has."""

    taken: set[str]
    dice: random.Random

    def name(self) -> str:
        """One more."""
        while True:
            letters = "".join(self.dice.choices(string.ascii_lowercase, k=self.dice.randint(1, 4)))
            name = f"_{self.dice.choice(_WORDS)}_{letters}"
            if name not in self.taken:
                self.taken.add(name)
                return name


@dataclass
class _Rewriting:
    """Rewrites functions. `switch` is a name of the module, and the number it stands for."""

    dice: random.Random
    fresh: _Fresh
    switch: tuple[str, int]

    def function(self, function: FunctionNode, others: Sequence[str]) -> None:
        """Rewrite one; the bodies `others` are put beside its own."""
        _without_docstring(function)
        bodies = [(True, self._rewritten(function))]
        for text in others:
            other = ast.parse(text).body[0]
            if isinstance(other, FunctionNode):
                bodies.append((False, self._rewritten(other)))
        self.dice.shuffle(bodies)
        function.body = self._branches(bodies)

    def _rewritten(self, function: FunctionNode) -> list[ast.stmt]:
        _rename_locals(function, self.fresh)
        if isinstance(function, ast.AsyncFunctionDef):
            return function.body
        edits = _Edits(self.dice, self.fresh)
        body = [edited for statement in function.body for edited in edits.statements(statement)]
        return self._with_noise(body)

    def _branches(self, bodies: Sequence[tuple[bool, list[ast.stmt]]]) -> list[ast.stmt]:
        """One body after the other, each under a condition that only holds for the living one."""
        (alive, body), *rest = bodies
        if not rest and self.dice.random() < _ONES_WORK:
            return body
        return [ast.If(self._condition(holds=alive), body, self._branches(rest) if rest else [])]

    def _condition(self, *, holds: bool) -> ast.expr:
        name, value = self.switch
        number = value if holds else (value + self.dice.randrange(1, _SWITCHES)) % _SWITCHES
        return ast.Compare(_load(name), [ast.Eq()], [ast.Constant(number)])

    def _with_noise(self, body: list[ast.stmt]) -> list[ast.stmt]:
        noisy: list[ast.stmt] = []
        for statement in body:
            if self.dice.random() < _ONES_WORK:
                noisy += _constants(self.dice, self.fresh)
            if self.dice.random() < _ONES_WORK / 2:
                name = self.fresh.name()
                never = [_assign(name, ast.Constant(self.dice.random())), ast.Return(_load(name))]
                noisy.append(ast.If(self._condition(holds=False), never, []))
            noisy.append(statement)
        return noisy


class _Edits(ast.NodeTransformer):
    """Edits inside of statements. Nested functions are left as they are."""

    def __init__(self, dice: random.Random, fresh: _Fresh) -> None:
        self._dice = dice
        self._fresh = fresh

    def statements(self, statement: ast.stmt) -> list[ast.stmt]:
        """What stands in the place of a statement."""
        edited = self.visit(statement)
        return edited if isinstance(edited, list) else [edited]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A function inside a function, with a scope of its own."""
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        """The same."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """The same."""
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """The same."""
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        """Turn a condition round together with its branches."""
        self.generic_visit(node)
        if node.orelse and self._wanted():
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """The same for an expression."""
        self.generic_visit(node)
        if self._wanted():
            return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Mirror a comparison with a constant."""
        self.generic_visit(node)
        mirrored = _MIRRORED.get(type(node.ops[0]))
        right = node.comparators[0]
        if len(node.ops) == 1 and mirrored and isinstance(right, ast.Constant) and self._wanted():
            return ast.Compare(right, [mirrored()], [node.left])
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        """Name a result before it is returned."""
        self.generic_visit(node)
        if node.value is not None and self._wanted():
            name = self._fresh.name()
            return [_assign(name, node.value), ast.Return(_load(name))]
        return node

    def _wanted(self) -> bool:
        return self._dice.random() < _ONES_WORK


class _Reordering(ast.NodeTransformer):
    """Puts functions that stand side by side in another order, in modules and classes."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """The functions of a module."""
        self.generic_visit(node)
        node.body = self._reordered(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """The methods of a class."""
        self.generic_visit(node)
        _without_docstring(node)
        node.body = self._reordered(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """What is in a function stays in its order."""
        return node

    def _reordered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in (*body, None):
            if isinstance(statement, ast.FunctionDef) and _is_movable(statement):
                run.append(statement)
                continue
            names = [each.name for each in run if isinstance(each, ast.FunctionDef)]
            if len(set(names)) == len(names):
                self._dice.shuffle(run)
            done += run
            run = []
            if statement is not None:
                done.append(statement)
        return done


# --- local names ------------------------------------------------------------------------------


@dataclass
class _Locals:
    """Which names a function binds in its own scope, and which of them cannot be renamed."""

    bound: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)

    def read(self, node: ast.AST) -> None:
        """Take in one node of the scope, and what is below it up to other scopes."""
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                self.fixed.add(name)
            case ast.Name(name, ast.Store() | ast.Del()):
                self.bound.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                self.bound.add(name)
            case ast.MatchStar(str(name)) | ast.MatchMapping(rest=str(name)):
                self.bound.add(name)
            case ast.Import(names) | ast.ImportFrom(names=names):
                self.fixed.update(alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.Global(names) | ast.Nonlocal(names):
                self.fixed.update(names)
        if isinstance(node, _SCOPES):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(node, _COMPREHENSIONS):
                self._read_walrus(child)
            else:
                self.read(child)

    def _read_walrus(self, node: ast.AST) -> None:
        """Of what is bound in a comprehension, only this is bound outside of it."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.read(inner.target)


def _rename_locals(function: FunctionNode, fresh: _Fresh) -> None:
    """Give the local variables of a function other names, unless something may ask for them."""
    if _looks_at_names(function):
        return
    scope = _Locals(fixed=_parameters(function.args))
    for statement in function.body:
        scope.read(statement)
    names = {name: fresh.name() for name in sorted(scope.bound - scope.fixed)}
    function.body = [_Renaming(names, fresh).visit(statement) for statement in function.body]


def _looks_at_names(function: FunctionNode) -> bool:
    """Whether a function may care what its variables are called."""
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.ClassDef | ast.Global | ast.Nonlocal):
                return True
            if isinstance(node, ast.Name) and node.id in _LOOKS_AT_NAMES:
                return True
    return False


class _Renaming(ast.NodeTransformer):
    """Renames variables of one function, also where functions inside of it use them."""

    def __init__(self, names: Mapping[str, str], fresh: _Fresh) -> None:
        self._names = names
        self._fresh = fresh

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A variable."""
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        """The name of what was raised."""
        self.generic_visit(node)
        node.name = self._new(node.name)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.MatchAs:
        """A name in a pattern."""
        self.generic_visit(node)
        node.name = self._new(node.name)
        return node

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.MatchStar:
        """The same."""
        node.name = self._new(node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.MatchMapping:
        """The same."""
        self.generic_visit(node)
        node.rest = self._new(node.rest)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function inside: what it binds itself is another variable."""
        return self._inner(node, node.args, node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """The same."""
        return self._inner(node, node.args, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """The same."""
        return self._inner(node, node.args, [node.body])

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """The same, but for the first iterable."""
        return self._comprehension(node, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """The same."""
        return self._comprehension(node, node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """The same."""
        return self._comprehension(node, node.generators)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """The same."""
        return self._comprehension(node, node.generators)

    def _new(self, name: str | None) -> str | None:
        return None if name is None else self._names.get(name, name)

    def _inner(
        self,
        node: FunctionNode | ast.Lambda,
        args: ast.arguments,
        body: Sequence[ast.stmt | ast.expr],
    ) -> ast.AST:
        scope = _Locals()
        for part in body:
            scope.read(part)
        hidden = scope.bound | scope.fixed | _parameters(args)
        inside = _Renaming(self._but(hidden), self._fresh)
        for each in _every_parameter(args):
            each.annotation = each.annotation and self.visit(each.annotation)
        args.defaults = [self.visit(value) for value in args.defaults]
        args.kw_defaults = [value and self.visit(value) for value in args.kw_defaults]
        if isinstance(node, ast.Lambda):
            node.body = inside.visit(node.body)
        else:
            node.returns = node.returns and self.visit(node.returns)
            node.decorator_list = [self.visit(each) for each in node.decorator_list]
            node.body = [inside.visit(statement) for statement in node.body]
        return node

    def _comprehension(self, node: ast.expr, generators: Sequence[ast.comprehension]) -> ast.AST:
        """A scope of its own for its targets; its first iterable stands outside."""
        scope = _Locals()
        for generator in generators:
            scope.read(generator.target)
        first = self.visit(generators[0].iter)
        targets = {name: self._fresh.name() for name in sorted(scope.bound)}
        inside = _Renaming(self._but(scope.bound) | targets, self._fresh)
        generators[0].iter = ast.Constant(None)  # else it would be visited with the names inside
        inside.generic_visit(node)
        generators[0].iter = first
        return node

    def _but(self, hidden: Iterable[str]) -> dict[str, str]:
        return {name: new for name, new in self._names.items() if name not in set(hidden)}


# --- parts of a tree --------------------------------------------------------------------------


def _functions(
    tree: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, FunctionNode]]:
    """The functions of a module and the methods of its classes, by dotted name."""
    for node in tree.body:
        if isinstance(node, FunctionNode):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _others(
    source: bytes, texts: Mapping[bytes, Mapping[str, tuple[str, str]]]
) -> Iterator[tuple[str, list[str]]]:
    """Of every function of `source`, the bodies that it has elsewhere and takes the same there."""
    for name, (parameters, own) in texts[source].items():
        elsewhere = [each[name] for each in texts.values() if name in each]
        bodies = dict.fromkeys(body for taken, body in elsewhere if taken == parameters)
        yield name, [body for body in bodies if body != own]


def _can_stand_in(function: FunctionNode) -> bool:
    """Whether a body may stand beside others: what it is written in does not change the rest."""
    return not isinstance(function, ast.AsyncFunctionDef) and not any(
        isinstance(node, _CHANGES_THE_REST)
        or (isinstance(node, ast.Name) and node.id in _LOOKS_AT_NAMES)
        for statement in function.body
        for node in ast.walk(statement)
    )


def _body_text(function: FunctionNode) -> str:
    """The body as the source of a function, the same for all that are written alike."""
    alone = ast.FunctionDef("body", function.args, function.body, [], lineno=1)
    _without_docstring(alone)
    return ast.unparse(alone)


def _identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                yield from (each for each in value if isinstance(each, str))


def _parameters(args: ast.arguments) -> set[str]:
    return {each.arg for each in _every_parameter(args)}


def _every_parameter(args: ast.arguments) -> list[ast.arg]:
    more = [each for each in (args.vararg, args.kwarg) if each is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def _is_movable(function: ast.FunctionDef) -> bool:
    """Whether it makes no difference where a function is defined."""
    defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    return not function.decorator_list and all(isinstance(each, ast.Constant) for each in defaults)


def _without_docstring(node: FunctionNode | ast.ClassDef | ast.Module) -> None:
    match node.body:
        case [ast.Expr(ast.Constant(str())), *rest]:
            node.body = rest if rest or isinstance(node, ast.Module) else [ast.Pass()]


def _after_future_imports(tree: ast.Module) -> int:
    places = [
        place
        for place, node in enumerate(tree.body, 1)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    return max(places, default=0)


def _constants(dice: random.Random, fresh: _Fresh) -> list[ast.stmt]:
    """Up to three names for constants that nobody asks for."""
    return [
        _assign(fresh.name(), ast.Constant(dice.choice([dice.randrange(100), dice.random(), None])))
        for _ in range(dice.randrange(4))
    ]


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())
