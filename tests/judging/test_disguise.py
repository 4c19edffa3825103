"""Disguised implementations do the same and tell nothing; in this process, without any box."""

from __future__ import annotations

import ast
import math
import random
import sys
import types
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from judge.grader.disguise import Disguises
from judge.problem import list_slugs, load_problem
from tests.problems.local_session import LocalSession, in_session

ROOT = Path(__file__).parents[2] / "problems"
LOOKS = 25


def module_of(source: bytes) -> types.ModuleType:
    module = types.ModuleType("disguised")
    exec(compile(source, "disguised.py", "exec", dont_inherit=True), vars(module))
    return module


def looks(source: str, number: int = LOOKS) -> Iterator[types.ModuleType]:
    """The source as a module, in so many looks."""
    plain = dedent(source).encode()
    disguises = Disguises([plain])
    for seed in range(number):
        yield module_of(disguises.of(plain, random.Random(seed)))


# --- it does the same -----------------------------------------------------------------------------


@pytest.mark.parametrize("slug", list_slugs(ROOT))
def test_the_reference_of_every_exercise_still_passes_all_its_checks(slug: str) -> None:
    problem = load_problem(ROOT / slug)
    graded = [problem.mutate(mutant) for mutant in problem.mutants[:8]]
    disguises = Disguises([problem.reference, *graded])

    def prove(session: LocalSession) -> list[dict[str, str]]:
        disguised = (disguises.of(problem.reference, random.Random(seed)) for seed in range(2))
        return [session.failures(source, seed=3) for source in disguised]

    assert in_session(problem.folder, prove) == [{}, {}]


SCOPES = '''
"""A module."""
from __future__ import annotations

import math as m
from functools import reduce

LIMIT = 3


class Counter:
    """A class."""

    step = 2

    def __init__(self, start: int = 0, *, scale=1) -> None:
        """A method."""
        total = start
        self.total = total * scale

    def add(self, n):
        __hidden = n * self.step
        self.total += __hidden
        return self

    @property
    def twice(self):
        return 2 * self.total

    @twice.setter
    def twice(self, value):
        self.total = value // 2


def closures(x):
    y = x + 1
    z = [y * i + k for i in range(3) for k in range(i) if (last := k) >= 0]
    def inner(y, w=y):
        v = y + x
        return v + w
    double = lambda y: y + x + last
    return inner(2), inner(y=3, w=1), double(10), z, {y: i for i, y in enumerate(z)}, y


def same_names(x, double=2):
    pairs = [x for x in list(x)]
    more = {double: [x for x in range(double)] for double in (double, double + 1)}
    return pairs, more, sum(x for x in tuple(x)), {x for x in x if x}


def counting():
    n = 0
    def more():
        nonlocal n
        n += 1
        return n
    return more(), more(), n


def branches(x, word="w"):
    if x < LIMIT:
        kind = "small"
    elif x == LIMIT:
        kind = "limit"
    else:
        kind = "large" if x != 7 else "seven"
    while True:
        x -= 1
        if x <= 0 or not word:
            break
    else:
        kind = "never"
    for i, letter in enumerate(kind):
        if letter == "z":
            return None
    return kind, i, f"{word!r:>5}", f"{x=}"


def errors(x):
    try:
        value = 1 / x
    except ZeroDivisionError as problem:
        return type(problem).__name__, str(problem)
    except (TypeError, ValueError):
        raise
    finally:
        done = True
    with open("/dev/null") as nothing:
        text = nothing.read()
    del done
    return value, text


def patterns(x):
    match x:
        case [first, *rest] if len(rest) > 1:
            return first, rest
        case {"a": found, **others}:
            return found, others
        case str() as text:
            return text
        case _:
            return None


def generated(n):
    """Yields."""
    for i in range(n):
        got = yield i * i
        if got is None:
            continue
    return n


def names():
    a, b = 1, 2
    return sorted(locals())


def defined():
    class Local:
        size = 1
        def get(self):
            return self.size + amount
    amount = 5
    return Local().get()


def everything():
    c = Counter(3, scale=2).add(4)
    c.twice = 10
    total: float = reduce(lambda a, b: a + b, [m.floor(2.7), c.twice])
    same = same_names((1, 0, 2))
    return total, Counter().add(1).total, [*generated(4)], names(), defined(), counting(), same
'''


def test_scopes_branches_patterns_and_errors_mean_what_they_meant() -> None:
    plain = module_of(SCOPES.encode())

    def answers(module: types.ModuleType) -> list[object]:
        return [
            module.everything(),
            [module.closures(x) for x in (0, 4)],
            [module.branches(x) for x in (-1, 3, 5, 7)],
            [module.errors(x) for x in (0, 2)],
            [module.patterns(x) for x in ([1, 2, 3], {"a": 1, "b": 2}, "x", 4)],
            plain.Counter.__init__.__annotations__,
        ]

    for module in looks(SCOPES):
        found = answers(module)
        found[0] = (*module.everything()[:3], ["a", "b"], *module.everything()[4:])
        assert found == answers(plain)


def test_what_is_seen_from_outside_stays() -> None:
    plain = module_of(SCOPES.encode())
    for module in looks(SCOPES):
        public = [name for name in vars(module) if not name.startswith("_")]
        assert sorted(public) == sorted(name for name in vars(plain) if not name.startswith("_"))
        for name in ("closures", "branches", "generated"):
            ours, theirs = vars(plain)[name], vars(module)[name]
            assert (
                ours.__code__.co_varnames[: ours.__code__.co_argcount]
                == (theirs.__code__.co_varnames[: theirs.__code__.co_argcount])
            )
            assert ours.__defaults__ == theirs.__defaults__
            assert theirs.__name__ == name
        assert set(vars(plain.Counter)) - {"__doc__"} == set(vars(module.Counter)) - {"__doc__"}
        with pytest.raises(TypeError):
            module.errors("x")


def test_comparisons_with_arrays_are_mirrored_rightly() -> None:
    source = "def f(x):\n    return (x < 2, x >= 2, x == 1, x != 1)\n"
    x = np.array([0.0, 1.0, 2.0, math.nan])
    expected = [list(part) for part in module_of(source.encode()).f(x)]
    assert all([list(part) for part in module.f(x)] == expected for module in looks(source))


# --- it tells nothing -----------------------------------------------------------------------------

REFERENCE = """\
import math


class Scaling:
    def __init__(self, width, heads):
        self.width = width
        self.heads = heads
        self.part = width // heads

    def scale(self, scores):
        factor = 1 / math.sqrt(self.part)
        return [factor * score for score in scores]

    def weights(self, scores):
        exps = [math.exp(score) for score in self.scale(scores)]
        return [e / sum(exps) for e in exps]
"""
EDITS = {
    "scaled-by-width": ("math.sqrt(self.part)", "math.sqrt(self.width)"),
    "not-scaled": ("return [factor * score for score in scores]", "return list(scores)"),
    "not-summed": ("e / sum(exps)", "e / len(exps)"),
}
PLAIN = {
    "reference": REFERENCE.encode(),
    **{name: REFERENCE.replace(*edit).encode() for name, edit in EDITS.items()},
}


def codes(module: types.ModuleType) -> Iterator[types.CodeType]:
    waiting: list[object] = [
        member.__code__
        for holder in (module, module.Scaling)
        for member in vars(holder).values()
        if isinstance(member, types.FunctionType)
    ]
    while waiting:
        code = waiting.pop()
        if isinstance(code, types.CodeType):
            yield code
            waiting += code.co_consts


def names(module: types.ModuleType) -> Hashable:
    return frozenset(
        name for code in codes(module) for name in code.co_names if not name.startswith("_")
    )


def names_by_method(module: types.ModuleType) -> Hashable:
    return frozenset(
        (method, frozenset(name for name in code.co_names if not name.startswith("_")))
        for method, code in ((key, value.__code__) for key, value in methods(module))
    )


def methods(module: types.ModuleType) -> list[tuple[str, types.FunctionType]]:
    found = vars(module.Scaling).items()
    return [(key, value) for key, value in found if isinstance(value, types.FunctionType)]


def bytecode(module: types.ModuleType) -> Hashable:
    return frozenset(code.co_code for code in codes(module))


def size(module: types.ModuleType) -> int:
    return sum(len(code.co_code) for code in codes(module))


def lines(module: types.ModuleType) -> Hashable:
    return tuple(sorted(code.co_firstlineno for code in codes(module)))


SNIFFERS: dict[str, Callable[[types.ModuleType], Hashable]] = {
    "names": names, "names of each method": names_by_method, "bytecode": bytecode,
    "size": size, "lines": lines,
}  # fmt: skip


def seen(sniffer: Callable[[types.ModuleType], Hashable]) -> dict[str, list[Hashable]]:
    """What a sniffer sees of each implementation, look by look."""
    disguises, dice = Disguises(list(PLAIN.values())), random.Random(5)
    return {
        name: [sniffer(module_of(disguises.of(source, dice))) for _ in range(LOOKS)]
        for name, source in PLAIN.items()
    }


@pytest.mark.parametrize("sniffer", ["names", "names of each method", "bytecode", "size"])
def test_without_a_disguise_what_is_written_tells_the_mutants(sniffer: str) -> None:
    found = {name: SNIFFERS[sniffer](module_of(source)) for name, source in PLAIN.items()}
    assert len({found["reference"], found["not-scaled"]}) == 2, found


@pytest.mark.parametrize("sniffer", ["names", "names of each method"])
def test_every_look_has_the_same_names_whichever_implementation_it_is(sniffer: str) -> None:
    found = seen(SNIFFERS[sniffer])
    assert len({each for every in found.values() for each in every}) == 1, found


@pytest.mark.parametrize("sniffer", ["bytecode", "lines"])
def test_no_two_looks_are_the_same(sniffer: str) -> None:
    found = [each for every in seen(SNIFFERS[sniffer]).values() for each in every]
    assert len(set(found)) == len(found)


def test_sizes_lie_among_each_other() -> None:
    found = {name: sorted(sizes) for name, sizes in seen(size).items()}  # type: ignore[type-var]
    reference = found.pop("reference")
    for name, sizes in found.items():
        below = sum(each < reference[LOOKS // 2] for each in sizes)  # type: ignore[operator]
        assert LOOKS / 5 < below < LOOKS * 4 / 5, (name, sizes, reference)


def test_mutants_still_do_what_is_wrong() -> None:
    disguises = Disguises(list(PLAIN.values()))
    scores = [1.0, 2.0, 5.0]
    for name, source in PLAIN.items():
        expected = module_of(source).Scaling(8, 2).weights(scores)
        for seed in range(LOOKS):
            module = module_of(disguises.of(source, random.Random(seed)))
            assert module.Scaling(8, 2).weights(scores) == expected, name


def test_nothing_is_said_in_words() -> None:
    source = '"""Module."""\nclass A:\n    """Class."""\ndef f():\n    """Function."""\n'
    disguised = Disguises([source.encode()]).of(source.encode(), random.Random(0))
    assert not [
        node.value
        for node in ast.walk(ast.parse(disguised))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_the_same_dice_give_the_same_look() -> None:
    source = PLAIN["reference"]
    disguises = Disguises(list(PLAIN.values()))
    first, second = (disguises.of(source, random.Random(9)) for _ in range(2))
    assert first == second != disguises.of(source, random.Random(10))
    assert "disguised" not in sys.modules
