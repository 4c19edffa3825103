"""Loading sources into modules, without any box."""

from __future__ import annotations

import importlib
import inspect
import random
import sys
import traceback
from collections.abc import Iterator

import pytest
from msgspec import structs

from sandbox.protocol import Setting
from sandbox.runner import loading
from sandbox.runner.loading import CompileRefused, Submission, load_submission

MAIN = "solution.py"
ALONE = Setting(MAIN)


def called(function: object) -> object:
    assert callable(function)
    return function()


def test_modules_with_the_same_names_live_side_by_side() -> None:
    source = b"import part\ndef f():\n    import late\n    return part.x + late.x\n"
    loaded = [
        load_submission({MAIN: source, "part.py": b"x = %d" % n, "late.py": b"x = 10"}, ALONE)
        for n in (1, 2)
    ]
    assert [called(names["f"]) for names in loaded] == [11, 12]
    assert not {"solution", "part", "late"} & sys.modules.keys()


def test_an_import_path_is_as_before_also_after_a_failure() -> None:
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError):
        load_submission({MAIN: b"1 / 0"}, ALONE)
    assert sys.meta_path == before
    assert "solution" not in sys.modules


def test_the_main_file_is_not_the_main_program() -> None:
    source = b"if __name__ == '__main__':\n    raise SystemExit\nname = __name__\n"
    assert load_submission({MAIN: source}, ALONE)["name"] == "solution"


def test_provided_names_are_defined_and_importable_but_not_its_imports() -> None:
    provided = b"from __future__ import annotations\nimport math\n_x = 1\ndef area(r): return r\n"
    source = b"import provided\nsame = provided.area is area\n"
    names = load_submission({MAIN: source}, Setting(MAIN, provided=provided))
    assert names["same"] is True
    assert not {"math", "annotations", "_x"} & names.keys()


def test_our_own_future_imports_are_not_inherited() -> None:
    function = load_submission({MAIN: b"def f(x: int): ...\n"}, ALONE)["f"]
    assert inspect.get_annotations(function) == {"x": int}  # type: ignore[arg-type]


def test_a_dataclass_with_text_annotations_can_be_made() -> None:
    source = b"from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\n"
    names = load_submission({MAIN: source + b"class A:\n    x: int = 1\n"}, ALONE)
    assert vars(names["A"])["x"] == 1


def test_a_file_does_not_shadow_a_library() -> None:
    files = {MAIN: b"import random\nx = random.random()\n", "random.py": b"1 / 0"}
    x = load_submission(files, ALONE)["x"]
    assert isinstance(x, float)
    assert 0 <= x < 1


def test_tracebacks_and_inspect_show_the_source() -> None:
    function = load_submission({MAIN: b"def f():\n    return 1 / 0  # here\n"}, ALONE)["f"]
    assert "# here" in inspect.getsource(function)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError) as caught:
        called(function)
    assert "# here" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        (b"x = (\n", "SyntaxError", 1),
        (b"a = 1\nb = = 2\n", "SyntaxError", 2),
        (b"a\0b", "SyntaxError", None),
        (b"# coding: nowhere\n", "SyntaxError", None),
        (b"(" * 100_000, "SyntaxError", 1),
        (b"-" * 100_000 + b"1", "MemoryError", None),
    ],
)
def test_what_the_compiler_refuses_is_described(source: bytes, kind: str, line: int | None) -> None:
    with pytest.raises(CompileRefused) as caught:
        load_submission({MAIN: b"", "other.py": source}, ALONE)
    failure = caught.value.failure
    assert (failure.kind, failure.syntax_line) == (kind, line)
    assert failure.frames[0].file == "other.py"
    assert failure.message


def test_a_compiler_warning_is_not_an_error() -> None:
    with pytest.warns(DeprecationWarning, match="invalid escape"):
        assert load_submission({MAIN: rb"x = '\d'"}, ALONE)["x"] == r"\d"


def test_files_of_a_problem_are_compiled_once_and_imported_anew() -> None:
    source = b"made = object()\ndef f(): return 1\n"
    first, second = (load_submission({MAIN: source}, ALONE) for _ in range(2))
    assert first["made"] is not second["made"]
    assert first["f"].__code__ is second["f"].__code__  # type: ignore[attr-defined]  # functions


def test_what_a_student_might_ask_for_keeps_no_code() -> None:
    kept = loading._compile_once.cache_info().currsize
    Submission({MAIN: b"x = 'of nobody else'"}, Setting(MAIN, harness=b"y = 'hidden'"))
    assert loading._compile_once.cache_info().currsize == kept


def test_an_installed_submission_stays_importable_until_it_is_removed() -> None:
    submission = Submission({MAIN: b"import later_part\n", "later_part.py": b"x = 1"}, ALONE)
    submission.install()
    assert importlib.import_module("later_part").x == 1
    submission.uninstall()
    assert "later_part" not in sys.modules


# --- one more file --------------------------------------------------------------------------------


@pytest.fixture
def installed() -> Iterator[Submission]:
    source = b"import math\n_kept = 1\ndef f(): return 2\nglobals()[5] = 5\n__builtins__ = {}\n"
    submission = Submission({MAIN: source}, Setting(MAIN, provided=b"given = 3\n"))
    submission.install()
    yield submission
    submission.uninstall()
    sys.modules.pop("late", None)


def test_one_more_file_has_the_names_of_the_main_one(installed: Submission) -> None:
    source = b"import solution\nx = (f(), given, _kept, math.pi, __name__, solution.f is f, len)\n"
    installed.execute("late.py", source)
    late = sys.modules["late"]
    assert late.x[:5] == (2, 3, 1, 3.141592653589793, "late")
    assert late.x[5:] == (True, len)
    assert inspect.getsource(late) == source.decode()


def test_what_one_more_file_changes_stays_in_it(installed: Submission) -> None:
    installed.execute("late.py", b"f = None\n")
    assert sys.modules["solution"].f() == 2


def test_one_more_file_that_does_not_compile_is_refused(installed: Submission) -> None:
    with pytest.raises(CompileRefused) as refused:
        installed.execute("late.py", b"x = 1\ny = (\n")
    assert (refused.value.failure.frames[0].file, refused.value.failure.syntax_line) == (
        "late.py", 2,
    )  # fmt: skip


def test_one_more_file_does_not_shadow_a_library(installed: Submission) -> None:
    installed.execute("random.py", b"x = 1\n")
    assert sys.modules["random"] is random


# --- packages, harness ----------------------------------------------------------------------------

LIBRARY = {
    "box/__init__.py": b"from .parts.wheel import turn\n",
    "box/parts/__init__.py": b"",
    "box/parts/wheel.py": b"from .. import parts\ndef turn(): return 'turned'\n",
}
INSIDE = Setting(
    "lid.py",
    module="box.parts.lid",
    library=LIBRARY,
    harness=b"from box.parts.lid import close\ndef twice(): return close() + close()\n",
)
LID = b"""
from box import turn
def close():
    from .wheel import turn as again
    return again()
"""


def test_a_submission_can_be_a_module_of_a_package_with_a_harness_beside_it() -> None:
    names = load_submission({"lid.py": LID}, INSIDE)
    assert called(names["close"]) == "turned"
    assert called(names["twice"]) == "turnedturned"
    assert not {"box", "box.parts.lid", "harness"} & sys.modules.keys()


def test_an_installed_submission_is_found_under_its_dotted_name() -> None:
    submission = Submission({"lid.py": LID}, INSIDE)
    submission.install()
    assert importlib.import_module("box.parts.lid") is vars(sys.modules["box.parts"])["lid"]
    submission.uninstall()
    assert not {"box", "box.parts", "box.parts.lid", "harness"} & sys.modules.keys()


def test_two_submissions_of_one_package_keep_their_own_copies() -> None:
    other = LIBRARY | {"box/parts/wheel.py": b"def turn(): return 'stuck'\n"}
    both = [
        load_submission({"lid.py": LID}, structs.replace(INSIDE, library=library))
        for library in (LIBRARY, other)
    ]
    assert [called(names["close"]) for names in both] == ["turned", "stuck"]


def test_nothing_in_the_library_takes_the_place_of_the_submission() -> None:
    library = LIBRARY | {"box/parts/lid.py": b"def close(): return 'not this'\n"}
    names = load_submission({"lid.py": LID}, structs.replace(INSIDE, library=library))
    assert called(names["close"]) == "turned"


def test_a_harness_lends_its_own_functions_only() -> None:
    harness = b"from math import sqrt\nfrom box import turn\ndef twice(): return 2\n_x = 1\n"
    source = LID + b"def sqrt(): return 'own'\n"
    names = load_submission({"lid.py": source}, structs.replace(INSIDE, harness=harness))
    assert called(names["sqrt"]) == "own"
    assert called(names["twice"]) == 2
