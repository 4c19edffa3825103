"""What a student's own tests may use, and how they run; in this process, without any box."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from sandbox.protocol import (
    FILE_ORDER,
    MAX_TESTS,
    REVERSED,
    CollectedTests,
    Failure,
    RanTest,
    RanTests,
    RefusedTests,
    Reply,
    RunTests,
)
from sandbox.runner.failures import describe_exception
from sandbox.runner.own_rules import find_breach
from sandbox.runner.own_tests import run_own_tests

IMPORTS = ["numpy", "math", "pytest", "email.message"]
FILE = "tests/test_own.py"


@pytest.fixture(autouse=True)
def no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """No box has the options that whoever runs these tests has for their own pytest."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def run(source: str, order: int = FILE_ORDER, imports: Sequence[str] = IMPORTS) -> list[Reply]:
    return run_files({FILE: source.encode()}, order, imports)


def run_files(
    files: dict[str, bytes], order: int = FILE_ORDER, imports: Sequence[str] = IMPORTS
) -> list[Reply]:
    """Everything that is answered."""
    told: list[Reply] = []
    request = RunTests(7, files, list(imports), order)
    last = run_own_tests(request, told.append, lambda error: describe_exception(error, files))
    return [*told, last]


def outcomes(replies: list[Reply]) -> dict[str, Failure | None]:
    """What each test came to, in the order in which they ran."""
    collected, *ran, last = replies
    assert isinstance(collected, CollectedTests), collected
    assert last == RanTests(7)
    ended = [each for each in ran if isinstance(each, RanTest)]
    assert len(ended) == len(ran)
    assert [each.test for each in ended] == collected.order
    return {collected.tests[each.test].name: each.failure for each in ended}


def refusal(replies: list[Reply]) -> RefusedTests:
    (refused,) = replies
    assert isinstance(refused, RefusedTests), refused
    return refused


# --- how they run ---------------------------------------------------------------------------------

PLAIN = '''\
import numpy as np
import pytest

@pytest.fixture
def three():
    return 3

@pytest.fixture(autouse=True, scope="module")
def around():
    yield

@pytest.mark.parametrize("x", [1, 3])
def test_number(x, three):
    """It is three.

    More."""
    assert x == three, "no"

class TestArrays:
    def setup_method(self):
        self.ones = np.ones(3)

    def _half(self):
        return self.ones / 2

    def test_close(self):
        self._twice = self._half() * 4
        assert self._twice.sum() == 6
        np.testing.assert_allclose(self.ones, 1)
        assert self.ones.sum() == pytest.approx(3.0)
        assert self.ones.mean() == 1.0

    def test_raises(self):
        with pytest.raises(ValueError, match="broadcast"):
            self.ones + np.ones(2)
'''


def test_fixtures_parameters_classes_raises_and_approx_are_pytests_own() -> None:
    replies = run(PLAIN)
    failures = outcomes(replies)
    assert list(failures) == [
        "test_own::test_number[1]", "test_own::test_number[3]",
        "test_own::TestArrays::test_close", "test_own::TestArrays::test_raises",
    ]  # fmt: skip
    assert [name for name, failure in failures.items() if failure] == ["test_own::test_number[1]"]
    assert isinstance(replies[0], CollectedTests)
    assert [test.title for test in replies[0].tests] == ["It is three.", "It is three.", "", ""]


def test_a_failed_assert_says_what_it_compared_in_the_students_line() -> None:
    failure = outcomes(run(PLAIN))["test_own::test_number[1]"]
    assert failure is not None
    assert failure.kind == "AssertionError"
    assert failure.message == "no\nassert 1 == 3"
    (frame,) = failure.frames
    assert (frame.file, frame.line, frame.function) == (FILE, 17, "test_number")
    assert frame.text == 'assert x == three, "no"'


def test_percent_signs_and_differences_of_dicts_come_through() -> None:
    failures = outcomes(run('def test_a():\n    assert {"50%": 1} == {"50%": 2}, "at 100%"\n'))
    failure = failures["test_own::test_a"]
    assert failure is not None
    assert "at 100%\n" in failure.message
    assert "{'50%': 1} != {'50%': 2}" in failure.message


def test_whatever_a_test_raises_is_its_failure_and_the_next_one_runs() -> None:
    source = "".join(
        f"def test_{number}():\n    raise {what}\n"
        for number, what in enumerate(
            ["SystemExit(0)", "KeyboardInterrupt", "BaseException", "RecursionError"]
        )
    )
    failures = outcomes(run(f"{source}def test_last(): pass\n"))
    assert [failure and failure.kind for failure in failures.values()] == [
        "SystemExit", "KeyboardInterrupt", "BaseException", "RecursionError", None,
    ]  # fmt: skip


def test_tear_down_counts_and_is_done_in_any_order() -> None:
    source = (
        "import pytest\n"
        "@pytest.fixture\n"
        "def torn():\n    yield\n    raise ValueError('torn')\n"
        "def test_a(torn): pass\n"
        "def test_b(): pass\n"
    )
    for order in (FILE_ORDER, REVERSED, 12):
        failures = outcomes(run(source, order))
        assert {name for name, failure in failures.items() if failure} == {"test_own::test_a"}


def test_an_order_is_the_files_its_reverse_or_a_shuffle_of_its_own() -> None:
    source = "".join(f"def test_{number}(): pass\n" for number in range(9))
    written = list(outcomes(run(source)))
    assert written == sorted(written)
    assert list(outcomes(run(source, REVERSED))) == written[::-1]
    shuffled = [list(outcomes(run(source, seed))) for seed in (2, 2, 3)]
    assert shuffled[0] == shuffled[1] != shuffled[2]
    assert all(sorted(order) == written for order in shuffled)


def test_several_files_stand_side_by_side_and_share_nothing() -> None:
    files = {
        "tests/test_a.py": b"x = 1\ndef test_x(): assert x == 1\n",
        "tests/test_b.py": b"def test_x(): x\n",
    }
    failures = outcomes(run_files(files))
    assert [failure and failure.kind for failure in failures.values()] == [None, "NameError"]
    assert list(failures) == ["test_a::test_x", "test_b::test_x"]


def test_a_file_without_tests_has_none() -> None:
    assert outcomes(run("x = 1\n")) == {}


def test_what_cannot_be_compiled_or_imported_says_where() -> None:
    syntax = refusal(run("x = 1\ny = (\n"))
    assert (syntax.stage, syntax.file, syntax.failure.syntax_line) == ("compile", FILE, 2)
    deep = refusal(run("-" * 100_000 + "1"))
    assert deep.stage == "compile"
    raised = refusal(run("x = 1\n1 / 0\n"))
    assert (raised.stage, raised.failure.kind) == ("import", "ZeroDivisionError")
    assert [frame.line for frame in raised.failure.frames] == [2]
    missing = refusal(run("from math import nothing\n"))
    assert (missing.stage, missing.failure.kind) == ("import", "ImportError")
    for source in (
        "raise SystemExit\n",
        "import pytest\n@pytest.mark.parametrize('n', [1])\ndef test_a(): pass\n",
        "def test_a(): yield 1\n",
    ):
        assert refusal(run(source)).stage == "import", source


def test_too_many_tests_are_refused() -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', {})\ndef test_a(n): pass\n"
    refused = refusal(run(many.format(f"range({MAX_TESTS + 1})")))
    assert f"more than {MAX_TESTS} tests" in refused.failure.message
    alike = refusal(run(many.format("'ab', ids=['x' * 300 + y for y in 'ab']")))
    assert "the same long name" in alike.failure.message


# --- what they may not use ------------------------------------------------------------------------

BREACHES = {
    "import os": "`os`",
    "import numpy.linalg": "`numpy.linalg`",
    "from os import path": "`os`",
    "from email import charset": "`email`",
    "from . import reference": "Relative imports",
    "from numpy import *": "by name",
    "from numpy import load": "`numpy.load`",
    "import numpy as np\nnp.fromfile('x')": "`numpy.fromfile`",
    "import numpy as np\nnp.ones(3).tofile('x')": "`.tofile`",
    "import numpy as np\nnp.ones(3).ctypes": "`.ctypes`",
    "eval('1')": "`eval`",
    "f = open": "`open`",
    "getattr(1, 'real')": "`getattr`",
    "print(globals())": "`globals`",
    "breakpoint()": "`breakpoint`",
    "__import__('os')": "`__import__`",
    "().__class__": "`__class__`",
    "print(__builtins__)": "`__builtins__`",
    "def f(__x__): pass": "`__x__`",
    "class A:\n    def __getattr__(self, name): pass": "`__getattr__`",
    "class A:\n    __array_interface__ = {}": "`__array_interface__`",
    "match 1:\n    case object(__class__=x): pass": "`__class__`",
    "match 1:\n    case object(gi_frame=x): pass": "`.gi_frame`",
    "class A: pass\nmatch A():\n    case A(x): pass": "name the attributes",
    "'{0.real}'.format(1)": "f-string",
    "(x for x in ()).gi_frame": "`.gi_frame`",
    "import math\nmath._private": "`_private`",
    "from math import _private": "`_private`",
    "try:\n    pass\nexcept ValueError as e:\n    e.with_traceback": "`.with_traceback`",
    "import pytest\nwith pytest.raises(ValueError) as e: pass\ne.traceback": "`.traceback`",
    "import pytest\npytest.skip('no')": "`pytest.skip`",
    "from pytest import importorskip": "`pytest.importorskip`",
    "import pytest\n@pytest.mark.xfail\ndef test_a(): pass": "`xfail`",
    "from pytest import mark\n@mark.skipif('1')\ndef test_a(): pass": "`skipif`",
    "def pytest_runtest_call(item): pass": "hook",
    "def test_a(request): pass": "`request`",
    "def test_a(tmp_path): pass": "`tmp_path`",
    "def test_a(capsys): pass": "`capsys`",
    "def test_a(recwarn): pass": "`recwarn`",
    "import pytest\nwith pytest.raises(ValueError) as e: pass\ne.x.frame": "`.frame`",
    "from pytest import fixture\n@fixture\ndef f(cache): pass\ndef test_a(f): pass": "`cache`",
}


@pytest.mark.parametrize("source", BREACHES)
def test_what_leads_out_of_testing_is_refused_with_its_line(source: str) -> None:
    refused = refusal(run(source))
    assert refused.stage == "rule", refused
    said, (frame,) = refused.failure.message, refused.failure.frames
    assert BREACHES[source] in said
    assert said.startswith(f"{FILE}, line {frame.line}: ")
    assert said.endswith((".", '"{value}".'))
    assert frame.file == FILE


def test_nothing_of_a_refused_file_runs() -> None:
    assert refusal(run("1 / 0\neval('1')\n")).stage == "rule"


def test_the_first_breach_of_a_file_is_told() -> None:
    breach = find_breach(ast.parse("x = 1\nopen('x')\nimport os\n"), IMPORTS)
    assert breach is not None
    assert breach.line == 2


def test_ordinary_tests_break_no_rule() -> None:
    source = """\
from __future__ import annotations
import math
import email.message
from email import message
from email.message import Message
import numpy as np
import pytest
from pytest import approx, mark

class Pair:
    def __init__(self, x): self._x = x
    def __eq__(self, other): return self._x == other._own() if False else True

@mark.parametrize("input", [1, pytest.param(2, id="two")])
def test_a(input):
    def open(vars): return vars
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 3)).astype(np.float64)
    assert open(input) == input and np.linalg.norm(x) > 0
    assert type(x).__name__ == "ndarray" and hasattr(x, "T")
    match 3:
        case int(n):
            assert n == 3
    with pytest.raises(TypeError) as raised:
        math.sqrt("x")
    assert "real" in str(raised.value)
    assert f"{math.pi:.2f}" == "3.14" and math.sqrt(2) == approx(1.414, abs=1e-3)
    assert message.Message is Message
    class Module:
        training = True
        def eval(self): self.training = False
    module = Module()
    module.eval()
    assert not module.training
    for i in range(3):
        try:
            x[i, i + 1]
        except IndexError as error:
            assert i == 2, error
"""
    # one private name of another object is in there on purpose
    assert "`_own`" in refusal(run(source)).failure.message
    assert not any(outcomes(run(source.replace("other._own()", "other"))).values())


HIDDEN = {
    "another name for numpy": "n = np\nn.load",
    "a library inside numpy": "n = np\nn.lib",
    "helpers of numpy's tests": "t = np.testing\nt.runstring",
    "another name for pytest": "p = pytest\np.skip('x')",
    "another name for marks": "m = pytest.mark\nm.skip",
    "a module of a module": "email.message.quopri",
    "a name that is bound elsewhere": "def f(open): pass\nopen('/etc/passwd')",
    "another such name": "class globals: pass\ndel globals\nglobals()",
    "a private name of what was raised": (
        "with pytest.raises(ValueError) as self: int('x')\nself._getreprcrash()"
    ),
    "a private name of somebody else's": (
        "class A:\n    def __init__(self): self._module = 1\n    def f(self): return self._module\n"
        "with pytest.warns(Warning) as w: np.float64(1) / np.float64(0)\nA.f(w)"
    ),
    "what numpy's tests answer with": "t = np.testing\nt.assert_raises(ValueError)",
    "a class made of three parts": "print(type('M', (), {}))",
    "the class of a class": "print(type(type(1)))",
    "an import by a bound name": "def f(getattr): pass\ngetattr(np, 'load')",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_what_the_scan_does_not_see_is_not_there_at_run_time(how: str) -> None:
    head = "import numpy as np\nimport pytest\nimport email.message\n"
    refused = refusal(run(head + HIDDEN[how]))
    assert refused.stage == "import"
    assert refused.failure.kind in ("AttributeError", "NameError", "TypeError"), refused.failure


def test_a_fixture_asked_for_by_a_name_put_together_is_refused() -> None:
    source = "import pytest\n@pytest.mark.usefixtures('req' + 'uest')\ndef test_a(): pass\n"
    assert "`request`" in refusal(run(source)).failure.message


def test_a_module_that_is_changed_is_the_tests_own() -> None:
    source = "import math\nmath.pi = 3\ndef test_a():\n    import math\n    assert math.pi == 3\n"
    assert outcomes(run(source)) == {"test_own::test_a": None}
    assert not any(outcomes(run("import math\ndef test_a(): assert math.pi > 3.1\n")).values())


def test_lines_of_what_is_under_test_are_in_no_record() -> None:
    source = (
        "from email.message import Message\n"
        "def test_a():\n"
        "    Message().get_content(content_manager=0)\n"
    )
    failure = outcomes(run(source))["test_own::test_a"]
    assert failure is not None
    assert {frame.file for frame in failure.frames} <= {FILE}
