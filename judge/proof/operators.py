"""Our own ways of making mutants, for code that computes with tensors.

Theory of operation
-------------------
Each function below looks at one node of the reference and yields edits of its text. They imitate
the mistakes that people make with tensors: the wrong axis, a transpose too few, operands the wrong
way round, a mask the wrong way round. Edits that could only crash, or could change nothing, are
avoided: the first are noticed by any check, the second by none, so that neither says anything
about the checks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from judge.proof.edits import Edit, Operator, Source

DROPPED = Operator("drop", "a statement dropped")
ARGUMENTS = Operator("args", "two arguments swapped")
OPERANDS = Operator("operands", "the operands swapped")
ORDER = Operator("order", "two items swapped")
UNPACKED = Operator("unpack", "two names swapped in unpacking")
TRANSPOSE = Operator("transpose", "a transpose removed or changed")
AXIS = Operator("axis", "another axis")
CONDITION = Operator("condition", "a condition negated")
CLAUSE = Operator("clause", "a part of a condition dropped")
MEMBERSHIP = Operator("in", "`in` and `not in` exchanged")
AUGMENTED = Operator("augmented", "another augmented assignment")
KEYWORD = Operator("keyword", "an argument left out")
DEFAULT = Operator("default", "a default left out")
BOUND = Operator("bound", "a bound off by one")
FUNCTION = Operator("function", "a related function instead")
UNWRAPPED = Operator("unwrap", "a function not applied")
SCALE = Operator("scale", "a small number ten times as large")

_SYMMETRIC = frozenset((
    "max", "min", "maximum", "minimum", "add", "mul", "multiply", "isclose", "allclose", "equal",
    "array_equal", "gcd", "hypot", "logaddexp", "logical_and", "logical_or", "transpose",
    "swapaxes", "permute", "movedim", "moveaxis",
))  # fmt: skip
_OF_FIXED_KINDS = frozenset((
    "isinstance", "issubclass", "getattr", "setattr", "hasattr", "where", "einsum", "masked_fill",
    "masked_fill_", "broadcast_to",
))  # fmt: skip
_SWAPS = frozenset(("transpose", "swapaxes", "transpose_", "swapdims"))
_PERMUTES = frozenset(("transpose", "permute"))
_REDUCERS = frozenset((
    "softmax", "log_softmax", "sum", "mean", "max", "min", "argmax", "argmin", "cumsum",
    "cumprod", "unsqueeze", "squeeze", "expand_dims", "logsumexp", "norm", "var", "std", "all",
    "any", "prod", "sort", "argsort", "flip", "unbind", "size",
))  # fmt: skip
_TAKES_AXIS_SECOND = frozenset(("cat", "concat", "concatenate", "stack", "split", "chunk"))
_AXIS_NAMES = frozenset(("dim", "axis", "dims", "axes", "dim0", "dim1"))
_RELATED = {
    "tril": "triu", "max": "min", "maximum": "minimum", "sum": "mean", "argmax": "argmin",
    "zeros": "ones", "zeros_like": "ones_like", "cos": "sin", "all": "any", "floor": "ceil",
    "exp": "expm1", "rand": "randn", "sqrt": "square", "repeat_interleave": "repeat",
}  # fmt: skip
_RELATED |= {second: first for first, second in _RELATED.items() if first not in {"exp", "sqrt"}}
_UNWRAPPED = frozenset((
    "sqrt", "rsqrt", "exp", "log", "tanh", "sigmoid", "relu", "gelu", "silu", "softmax",
    "log_softmax", "abs", "square", "masked_fill", "tril", "triu", "cumsum", "reversed", "sorted",
    "dropout", "clamp", "broadcast_to",
))  # fmt: skip
_LEFT_AS_THEY_ARE = frozenset(("device", "dtype", "strict"))  # of no effect here, or only a crash
_NEGATED = {ast.In: "not in", ast.NotIn: "in"}
_AUGMENTED = {ast.Add: "-=", ast.Sub: "+=", ast.Mult: "/=", ast.Div: "*="}
_Found = Iterator[Edit]


def own_edits(source: Source) -> Iterator[Edit]:
    """Every edit by the operators of this module, node by node."""
    for node in source.nodes:
        for operator in _OPERATORS:
            yield from operator(source, node)


def axis_spans(source: Source) -> Iterator[tuple[int, int]]:
    """Where numbers name axes: what other numbers they may become is known here."""
    for node in source.nodes:
        yield from map(source.span, _axes_in(source, node))
        yield from map(source.span, _moved_axes(node))


# --- statements -----------------------------------------------------------------------------------


def _dropped(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.Expr(value=ast.Constant() | ast.Yield() | ast.Await()):
            return
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("super"))))):
            return
        case ast.Return():
            may_go = node.value is not None and not _ends_function(source, node)
        case ast.Assign():
            may_go = all(_is_bound_before(source, target) for target in node.targets)
        case ast.AnnAssign():
            may_go = node.value is not None and _is_bound_before(source, node.target)
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Assert() | ast.Delete():
            may_go = True
        case _:
            return
    if may_go:
        yield Edit(*source.span(node), "pass", DROPPED)


def _ends_function(source: Source, node: ast.AST) -> bool:
    """Whether nothing comes after `node`, so that without it the function would return None."""
    function = source.function_around(node)
    around: ast.AST | None = node
    while around is not None:
        if function is not None and around is function.body[-1]:
            return True
        around = source.parents.get(around)
    return False


def _is_bound_before(source: Source, target: ast.expr) -> bool:
    """Whether what is assigned to has a value without it: else a name is not defined, no more."""
    match target:
        case ast.Attribute() | ast.Subscript():
            return True
        case ast.Tuple() | ast.List():
            return all(_is_bound_before(source, each) for each in target.elts)
        case ast.Starred():
            return _is_bound_before(source, target.value)
    function = source.function_around(target)
    if function is None or not isinstance(target, ast.Name):
        return False
    parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return target.id in parameters or any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id == target.id
        and node.lineno < target.lineno
        for node in ast.walk(function)
    )


def _augmented(source: Source, node: ast.AST) -> _Found:
    if isinstance(node, ast.AugAssign) and type(node.op) in _AUGMENTED:
        start, end = source.span(node.target)[1], source.span(node.value)[0]
        between = source.text[start:end]
        sign = between.strip(" \t(")
        changed = between.replace(sign, _AUGMENTED[type(node.op)], 1)
        yield Edit(start, end, changed, AUGMENTED)


def _unpacked(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value) if not isinstance(
            value, ast.Tuple
        ):
            pairs = [pair for pair in pairwise(names) if _are_names(pair)]
            yield from _exchanged(source, pairs, UNPACKED)


def _are_names(pair: Sequence[ast.expr]) -> bool:
    return all(isinstance(name, ast.Name) for name in pair)


# --- conditions -----------------------------------------------------------------------------------


def _negated(source: Source, node: ast.AST) -> _Found:
    """Comparisons and `not` have operators of their own, which come to the same."""
    match node:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            tests = [node.test]
        case ast.comprehension():
            tests = node.ifs
        case _:
            return
    for test in tests:
        if not _has_own_negation(test):
            yield Edit(*source.span(test), f"not {source.atom(test)}", CONDITION)


def _has_own_negation(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ops=[_]) | ast.UnaryOp(op=ast.Not()) | ast.Constant():
            return True
    return False


def _negated_mask(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, ast.Call) or not node.args:
        return
    mask, name = node.args[0], _called(node)
    if name in {"where", "masked_fill", "masked_fill_"} and not _is_inverted(mask):
        yield Edit(*source.span(mask), f"~{source.atom(mask)}", CONDITION)


def _is_inverted(mask: ast.expr) -> bool:
    return isinstance(mask, (ast.Compare, ast.Starred)) or (
        isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert)
    )


def _clause(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, ast.BoolOp):
        return
    extents = [source.extent(value, node) for value in node.values]
    for index, (start, end) in enumerate(extents):
        if index == 0:
            yield Edit(start, extents[1][0], "", CLAUSE)
        else:
            yield Edit(extents[index - 1][1], end, "", CLAUSE)


def _membership(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as word], comparators=[right]):
            start, end = source.extent(left, node)[1], source.extent(right, node)[0]
            yield Edit(start, end, f" {_NEGATED[type(word)]} ", MEMBERSHIP)


# --- operands, arguments and items ----------------------------------------------------------------


def _operands(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.BinOp(left=left, op=ast.MatMult() | ast.Sub() | ast.Div(), right=right):
            if not (_is_constant(left) and _is_constant(right)):
                yield from _turned(source, node, left, right)


def _turned(source: Source, node: ast.BinOp, left: ast.expr, right: ast.expr) -> _Found:
    (start, left_end), (right_start, end) = source.extent(left, node), source.extent(right, node)
    between = source.text[left_end:right_start]
    turned = f"{source.atom(right)}{between}{source.atom(left)}"
    yield Edit(start, end, turned, OPERANDS)


def _arguments(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, ast.Call) or _called(node) in _SYMMETRIC | _OF_FIXED_KINDS:
        return
    annotations = _annotations_of(source, node)
    pairs = [
        (first, second)
        for index, (first, second) in enumerate(pairwise(node.args))
        if _are_of_one_kind(first, second)
        and len(set(annotations[index : index + 2])) < 2  # unknown, or the same
    ]
    yield from _exchanged(source, pairs, ARGUMENTS)


def _annotations_of(source: Source, call: ast.Call) -> Sequence[str]:
    """How the reference's own function annotates the arguments of a call; empty for any other."""
    function = source.functions.get(_called(call))
    if function is None:
        return ()
    parameters = function.args.posonlyargs + function.args.args
    is_method = bool(parameters) and parameters[0].arg == "self"
    return [ast.dump(each.annotation) if each.annotation else "" for each in parameters[is_method:]]


def _items(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, (ast.Tuple, ast.List)) or not isinstance(node.ctx, ast.Load):
        return
    around = source.parents[node]
    if isinstance(around, ast.Subscript):
        yield from _index(source, node)
    elif not isinstance(around, (ast.Return, ast.Compare, ast.Assign)) or _is_shape(around, node):
        fixed = isinstance(around, ast.Call) and _called(around) in _OF_FIXED_KINDS
        pairs = [pair for pair in pairwise(node.elts) if _are_of_one_kind(*pair)]
        yield from _exchanged(source, [] if fixed else pairs, ORDER)


def _is_shape(around: ast.AST, node: ast.expr) -> bool:
    """Whether a tuple is assigned to one name, or compared with `==` or `!=`: a shape, mostly."""
    match around:
        case ast.Assign(targets=[ast.Name()]):
            return True
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            return around.comparators[0] is node
    return False


def _index(source: Source, node: ast.Tuple | ast.List) -> _Found:
    """A new axis elsewhere: `x[:, None]` becomes `x[None, :]`."""
    pairs = [
        pair for pair in pairwise(node.elts) if any(map(_is_new_axis, pair)) and not _same(*pair)
    ]
    yield from _exchanged(source, pairs, ORDER)


def _is_new_axis(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=None) | ast.Attribute(attr="newaxis") | ast.Name(id="newaxis"):
            return True
    return False


def _exchanged(
    source: Source, pairs: Sequence[tuple[ast.expr, ast.expr]], operator: Operator
) -> _Found:
    for first, second in pairs:
        (start, first_end), (second_start, end) = source.span(first), source.span(second)
        between = source.text[first_end:second_start]
        if "(" not in between and ")" not in between:
            text = f"{source.segment(second)}{between}{source.segment(first)}"
            yield Edit(start, end, text, operator)


def _are_of_one_kind(first: ast.expr, second: ast.expr) -> bool:
    """Whether either could stand for the other, and would make a difference."""
    if any(isinstance(each, (ast.Starred, ast.Tuple, ast.List)) for each in (first, second)):
        return False
    return not (_is_constant(first) or _is_constant(second) or _same(first, second))


def _same(first: ast.AST, second: ast.AST) -> bool:
    return ast.dump(first) == ast.dump(second)


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()]):
            return True
    return False


# --- axes -----------------------------------------------------------------------------------------


def _axis(source: Source, node: ast.AST) -> _Found:
    for axis in _axes_in(source, node):
        number = _number(axis)
        for other in () if number is None else _other_axes(number):
            yield Edit(*source.span(axis), str(other), AXIS)


def _axes_in(source: Source, node: ast.AST) -> Iterator[ast.expr]:
    """The arguments of a call, and the index into a shape, that name one axis as a number."""
    match node:
        case ast.keyword(arg=name, value=value) if name in _AXIS_NAMES:
            yield from _numbers([value])
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index):
            yield from _numbers([index])
        case ast.Call() if _called(node) in _REDUCERS:
            yield from _numbers(node.args[1:2] if _is_function(source, node) else node.args[:1])
        case ast.Call() if _called(node) in _TAKES_AXIS_SECOND:
            yield from _numbers(node.args[1:2])


def _numbers(nodes: Sequence[ast.expr]) -> Iterator[ast.expr]:
    yield from (node for node in nodes if _number(node) is not None)


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def _other_axes(axis: int) -> tuple[int, ...]:
    """Neighbours, and the other end."""
    match axis:
        case -1:
            return -2, 0
        case 0:
            return 1, -1
        case _ if axis < 0:
            return axis + 1, axis - 1
    return axis - 1, axis + 1


def _moved_axes(node: ast.AST) -> list[ast.expr]:
    """The numbers in a call that moves axes."""
    if not isinstance(node, ast.Call) or _called(node) not in _SWAPS | _PERMUTES:
        return []
    flat: list[ast.expr] = []
    for argument in node.args:
        match argument:
            case ast.Tuple(elts=several) | ast.List(elts=several):
                flat += several
            case _:
                flat.append(argument)
    return list(_numbers(flat))


def _transpose(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.Attribute(attr="T" | "mT" | "H" | "mH", value=value):
            inner, end = source.span(value)[1], source.span(node)[1]
            yield Edit(source.text.rindex(".", inner, end), end, "", TRANSPOSE)
        case ast.Call() if _called(node) in _SWAPS | _PERMUTES:
            moved = node.args[0] if _is_function(source, node) else _receiver(node)
            if moved is not None:
                yield Edit(*source.span(node), source.atom(moved), TRANSPOSE)
            axes = _moved_axes(node)
            yield from _other_pair(source, axes) if len(axes) == 2 else _other_order(source, axes)


def _other_pair(source: Source, axes: Sequence[ast.expr]) -> _Found:
    """Two axes are exchanged: one of them, and a neighbour of the other."""
    low, high = sorted(axes, key=lambda axis: _number(axis) or 0)
    lowest, highest = _number(low), _number(high)
    assert lowest is not None
    assert highest is not None
    if lowest != 0:
        yield Edit(*source.span(low), str(lowest - 1), TRANSPOSE)
    if highest > 1:
        yield Edit(*source.span(high), str(highest + 1), TRANSPOSE)
    elif highest < 0:
        yield Edit(*source.span(high), str(lowest - 1), TRANSPOSE)


def _other_order(source: Source, axes: Sequence[ast.expr]) -> _Found:
    yield from _exchanged(source, list(pairwise(axes)), TRANSPOSE)


# --- calls ----------------------------------------------------------------------------------------


def _keyword(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, ast.Call):
        return
    for keyword in node.keywords:
        name, value = keyword.arg, keyword.value
        needed = _called(node) in {"softmax", "log_softmax"} and name in {"dim", "axis"}
        is_flag = isinstance(value, ast.Constant) and isinstance(value.value, bool)
        if name is None or name in _LEFT_AS_THEY_ARE or needed or is_flag:
            continue
        start, end = source.span(keyword)
        before, after = source.text[:start], source.text[end:]
        if before.rstrip().endswith(","):
            yield Edit(len(before.rstrip()) - 1, end, "", KEYWORD)
        elif after.lstrip().startswith(","):
            rest = after.lstrip()[1:].lstrip()
            yield Edit(start, len(source.text) - len(rest), "", KEYWORD)
        else:
            yield Edit(start, end, "", KEYWORD)


def _default(source: Source, node: ast.AST) -> _Found:
    """Only the first default can go: those after it may stay."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = positional[len(positional) - len(arguments.defaults) :][:1]
    pairs = [*zip(first, arguments.defaults[:1], strict=True)]
    pairs += [
        (name, value)
        for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value is not None
    ]
    for name, value in pairs:
        yield Edit(source.span(name)[1], source.span(value)[1], "", DEFAULT)


def _bounds(source: Source, node: ast.AST) -> _Found:
    """Bounds that are numbers are changed as numbers are."""
    match node:
        case ast.Slice():
            low, high = node.lower, node.upper
        case ast.Call(func=ast.Name(id="range" | "slice"), args=[high]):
            low = None
        case ast.Call(func=ast.Name(id="range" | "slice"), args=[low, high, *_]):
            pass
        case _:
            return
    for bound, sign in ((low, "+"), (high, "-")):
        if bound is not None and not _is_constant(bound) and not isinstance(bound, ast.Starred):
            text = source.segment(bound) if isinstance(bound, ast.BinOp) else source.atom(bound)
            yield Edit(*source.span(bound), f"{text} {sign} 1", BOUND)


def _function(source: Source, node: ast.AST) -> _Found:
    if isinstance(node, ast.Call) and (name := _called(node)) in _RELATED:
        end = source.span(node.func)[1]
        if isinstance(node.func, ast.Attribute) or name in {"max", "min", "all", "any"}:
            yield Edit(end - len(name), end, _RELATED[name], FUNCTION)


def _unwrapped(source: Source, node: ast.AST) -> _Found:
    if not isinstance(node, ast.Call) or _called(node) not in _UNWRAPPED:
        return
    inner = node.args[0] if node.args and _is_function(source, node) else _receiver(node)
    if inner is None or isinstance(inner, ast.Starred):
        return
    match source.parents[node]:
        case ast.Assign(targets=[target]) if source.segment(target) == source.segment(inner):
            return  # `x = x.softmax()`: the statement dropped is the same
    yield Edit(*source.span(node), source.atom(inner), UNWRAPPED)


def _scale(source: Source, node: ast.AST) -> _Found:
    match node:
        case ast.Constant(value=float(value)) if 0 < abs(value) <= 0.01:
            yield Edit(*source.span(node), repr(10 * value), SCALE)


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _receiver(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _is_function(source: Source, call: ast.Call) -> bool:
    """Whether a function is called, of a module or by its name, and not a method."""
    around: ast.expr = call.func
    while isinstance(around, ast.Attribute):
        around = around.value
    if not isinstance(around, ast.Name):
        return False
    return around is call.func or around.id in source.modules


_OPERATORS: tuple[Callable[[Source, ast.AST], Iterator[Edit]], ...] = (
    _dropped, _augmented, _unpacked, _negated, _negated_mask, _clause, _membership, _operands,
    _arguments, _items, _axis, _transpose, _keyword, _default, _bounds, _function, _unwrapped,
    _scale,
)  # fmt: skip
