"""Running a student's own tests, as pytest runs them, on the submission in this process.

Theory of operation
-------------------
The files are compiled and read for what tests may not use (`sandbox.runner.own_rules`); only then
do they run, as modules that no file stands behind, with builtins and imports of their own
(`sandbox.runner.own_modules`). pytest's own collector finds the tests in them, and its own
protocol runs each: fixtures, parametrize, raises and approx are the real ones, and a failed assert
says which values it compared. What a test came to is told as soon as it has ended.

Starting pytest takes far longer than running tests. So the zygote starts it once (`prepare`), and
every fork finds a session without any test. It has no plugins but those that running tests takes,
and prints nothing; what tests print goes where a submission's output goes.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import linecache
import os
import random
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from _pytest.assertion import rewrite
from _pytest.config import _prepareconfig
from _pytest.python import get_direct_param_fixture_func

from sandbox.protocol import (
    FILE_ORDER,
    MAX_TESTS,
    REVERSED,
    CollectedTests,
    Failure,
    OwnTest,
    RanTest,
    RanTests,
    RefusedTests,
    Reply,
    RunTests,
)
from sandbox.runner.failures import (
    MAX_NAME_CHARS,
    bounded_text,
    describe_compile_error,
    describe_exception,
)
from sandbox.runner.loading import COMPILER_ERRORS
from sandbox.runner.own_modules import TestImports, load_parts, restricted_builtins
from sandbox.runner.own_rules import (
    Breach,
    PrivateNames,
    find_breach,
    fixture_breach,
    mark_breach,
)

Tell = Callable[[Reply], None]
Describe = Callable[[BaseException], Failure]

_FOLDER = Path("/tmp")  # noqa: S108  # no file is ever looked for there
_PLUGINS_OFF = (
    *("cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath"),
    *("logging", "monkeypatch", "pastebin", "pytester", "python_path", "setuponly", "setupplan"),
    *("skipping", "stepwise", "subtests", "terminal", "threadexception", "tmpdir", "unittest"),
    *("unraisableexception", "warnings"),
)
_OPTIONS = [
    "--capture=no",
    "--disable-plugin-autoload",
    "--assert=plain",  # asserts are rewritten here, in memory
    *("--rootdir", str(_FOLDER), "-c", os.devnull),
    *(option for plugin in _PLUGINS_OFF for option in ("-p", f"no:{plugin}")),
]
_REHEARSAL = b'''
import numpy as np
import pytest

@pytest.fixture
def two():
    return 2

@pytest.mark.parametrize("number", [1, 2])
def test_sum(two, number):
    """It adds up."""
    assert two + number == 3

class TestNumbers:
    def test_close(self):
        np.testing.assert_allclose(np.ones(3), 1.0)
        assert 1.0 == pytest.approx(1.0)
        with pytest.raises(ValueError, match="many"):
            raise ValueError("many")
'''
Stage = Literal["rule", "compile", "import"]


class Refused(Exception):
    """The tests of a file cannot be run."""

    def __init__(self, stage: Stage, file: str, failure: Failure) -> None:
        super().__init__(failure.message)
        self.stage: Stage = stage
        self.file = file
        self.failure = failure


def prepare() -> None:
    """Start pytest, and run a few tests through it, for forks to find it warm."""
    load_parts()
    files = {"tests/test_rehearsal.py": _REHEARSAL}
    run = RunTests(0, files, ["numpy", "pytest"], 2)
    answers: list[Reply] = []
    last = run_own_tests(run, answers.append, lambda error: describe_exception(error, files))
    if last != RanTests(run.id):
        raise RuntimeError(f"pytest cannot be used: {last}")


def run_own_tests(request: RunTests, tell: Tell, describe: Describe) -> Reply:
    """Run the tests; what is told on the way, and the last answer.

    `describe` makes the record of an exception that the tests, or what is under test, raised.
    """
    try:
        items = _collect(request, describe)
    except Refused as refused:
        return RefusedTests(request.id, refused.stage, refused.file, refused.failure)
    order = _order(len(items), request.order)
    tell(CollectedTests(request.id, [_about(item) for item in items], order))
    running = [items[index] for index in order]
    for index, item, following in zip(order, running, [*running, None][1:], strict=True):
        error = _pytest().run(item, following)
        tell(RanTest(request.id, index, None if error is None else describe(error)))
    return RanTests(request.id)


# --- before anything runs ---------------------------------------------------------------------


def _collect(request: RunTests, describe: Describe) -> list[pytest.Item]:
    """The tests of all files, in order. Raises `Refused`."""
    codes = {file: _compile(file, source, request) for file, source in request.files.items()}
    given = restricted_builtins(TestImports(request.imports))
    linecache.clearcache()  # the source of what is under test is in there
    items: list[pytest.Item] = []
    for file, code in codes.items():
        try:
            module = _import(file, code, given)
            found = list(_items(_TestFile.of(_pytest().session, file, module)))
        except BaseException as error:  # noqa: BLE001  # SystemExit is a way to fail, too
            raise Refused("import", file, describe(error)) from None
        for item in found:
            if (breach := _breach_of(item)) is not None:
                raise Refused("rule", file, breach.failure(file, request.files[file]))
        items += found
        if (breach := _breach_of_all(items)) is not None:
            raise Refused("rule", file, breach.failure(file, request.files[file]))
    return items


def _compile(file: str, source: bytes, request: RunTests) -> types.CodeType:
    """Compile one file with its asserts rewritten, unless it breaks a rule. Raises `Refused`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, file, "exec", dont_inherit=True)
            tree = ast.parse(source, file)
            breach = find_breach(tree, request.imports)
            if breach is not None:
                raise Refused("rule", file, breach.failure(file, source))
            tree = ast.fix_missing_locations(PrivateNames().visit(tree))
            rewrite.rewrite_asserts(tree, source, file, _pytest().config)
            tree.body = [node for node in tree.body if not _is_rewriters(node)]
            return compile(tree, file, "exec", dont_inherit=True)
        except COMPILER_ERRORS as error:
            failure = describe_compile_error(error, file, source)
            raise Refused("compile", file, failure) from None


def _is_rewriters(node: ast.stmt) -> bool:
    """Whether this imports what rewritten asserts use, which test modules find already there."""
    return isinstance(node, ast.Import) and (node.names[0].asname or "").startswith("@")


def _import(file: str, code: types.CodeType, given: dict[str, object]) -> types.ModuleType:
    module = types.ModuleType(Path(file).stem)
    names = {"__builtins__": given, "__file__": file}
    vars(module).update(names, **{"@py_builtins": builtins, "@pytest_ar": rewrite})
    exec(code, vars(module))  # noqa: S102  # what this file is for
    return module


class _TestFile(pytest.Module):
    """pytest's collector of one module, which is in memory."""

    made: types.ModuleType

    @classmethod
    def of(cls, session: pytest.Session, file: str, module: types.ModuleType) -> _TestFile:
        """The collector of a module that was imported."""
        collector: _TestFile = cls.from_parent(session, path=_FOLDER / file)
        collector.made = module
        return collector

    def _getobj(self) -> types.ModuleType:
        return self.made


def _items(node: pytest.Item | pytest.Collector) -> Iterator[pytest.Item]:
    if isinstance(node, pytest.Item):
        yield node
        return
    for child in node.collect():
        yield from _items(child)


def _breach_of(item: pytest.Item) -> Breach | None:
    """What a test asks pytest for that it may not have."""
    line = (item.location[1] or 0) + 1
    for mark in item.iter_markers():
        if (breach := mark_breach(mark.name, line)) is not None:
            return breach
    if not isinstance(item, pytest.Function):
        return None
    known = item._fixtureinfo.name2fixturedefs  # noqa: SLF001  # as the two below: not offered
    definitions = [each for found in known.values() for each in found]
    own = [each for each in definitions if _is_own(each)]
    asked = {*item._fixtureinfo.initialnames, *(name for each in own for name in each.argnames)}  # noqa: SLF001
    allowed = {each.argname for each in definitions if not _is_pytests(each)}
    refused = sorted(asked - allowed)
    return fixture_breach(refused[0], line) if refused else None


def _breach_of_all(items: list[pytest.Item]) -> Breach | None:
    """Why there are too many tests, or tests that cannot be told apart."""
    if len(items) > MAX_TESTS:
        said = f"There are more than {MAX_TESTS} tests. Join some, or use fewer parameters."
        return Breach(said, 1)
    if len({_about(item).name for item in items}) < len(items):
        return Breach("Two tests have the same long name: give parameters short ids.", 1)
    return None


def _is_own(fixture: pytest.FixtureDef[object]) -> bool:
    return not fixture.func.__module__.startswith("_pytest.")


def _is_pytests(fixture: pytest.FixtureDef[object]) -> bool:
    """Whether pytest brings this fixture: no file has it, and it is no parameter of a test."""
    return not fixture.baseid and fixture.func is not get_direct_param_fixture_func


def _about(item: pytest.Item) -> OwnTest:
    stem, name = item.path.stem, item.nodeid.partition("::")[2]
    said = getattr(getattr(item, "obj", None), "__doc__", None)
    title = said.strip().partition("\n")[0] if type(said) is str else ""
    return OwnTest(
        bounded_text(f"{stem}::{name}", MAX_NAME_CHARS), bounded_text(title, MAX_NAME_CHARS)
    )


def _order(count: int, order: int) -> list[int]:
    indices = list(range(count))
    if order == REVERSED:
        indices.reverse()
    elif order != FILE_ORDER:
        random.Random(order).shuffle(indices)  # noqa: S311  # no secret
    return indices


# --- pytest -----------------------------------------------------------------------------------


class _Outcomes:
    """The plugin that keeps what a test raised, in the place of pytest's own long report."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Keep the first exception of set-up, call and teardown."""
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)  # type: ignore[arg-type]  # never "collect"


@dataclass(frozen=True)
class _Pytest:
    """A session that runs the tests it is given."""

    config: pytest.Config
    session: pytest.Session
    outcomes: _Outcomes

    @classmethod
    def start(cls) -> _Pytest:
        """Start pytest without a single test."""
        outcomes = _Outcomes()
        config = _prepareconfig(_OPTIONS, [outcomes])
        config._do_configure()  # noqa: SLF001  # what `pytest.main` does
        config.option.assertmode = "rewrite"  # of those that were; asked when values are compared
        session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=session)
        return cls(config, session, outcomes)

    def run(self, item: pytest.Item, following: pytest.Item | None) -> BaseException | None:
        """Run one test; what it raised."""
        self.outcomes.error = None
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException as error:  # noqa: BLE001  # pytest lets some through, KeyboardInterrupt
            with contextlib.suppress(BaseException):  # the first is what is told
                self.session._setupstate.teardown_exact(None)  # noqa: SLF001  # it leaves fixtures
            return error
        return self.outcomes.error


@cache
def _pytest() -> _Pytest:
    return _Pytest.start()
