"""Loading sources into modules, without any box."""

from __future__ import annotations

import importlib
import inspect
import random
import sys
import traceback
from collections.abc import Iterator

import pytest

from sandbox.runner.loading import CompileRefused, Submission, load_submission

MAIN = "solution.py"


def test_modules_with_the_same_names_live_side_by_side() -> None:
    source = b"import part\ndef f():\n    import late\n    return part.x + late.x\n"
    loaded = [
        load_submission({MAIN: source, "part.py": b"x = %d" % n, "late.py": b"x = 10"}, MAIN, None)
        for n in (1, 2)
    ]
    assert [module.f() for module in loaded] == [11, 12]
    assert not {"solution", "part", "late"} & sys.modules.keys()


def test_an_import_path_is_as_before_also_after_a_failure() -> None:
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError):
        load_submission({MAIN: b"1 / 0"}, MAIN, None)
    assert sys.meta_path == before
    assert "solution" not in sys.modules


def test_the_main_file_is_not_the_main_program() -> None:
    source = b"if __name__ == '__main__':\n    raise SystemExit\nname = __name__\n"
    assert load_submission({MAIN: source}, MAIN, None).name == "solution"


def test_provided_names_are_defined_and_importable_but_not_its_imports() -> None:
    provided = b"from __future__ import annotations\nimport math\n_x = 1\ndef area(r): return r\n"
    source = b"import provided\nsame = provided.area is area\n"
    module = load_submission({MAIN: source}, MAIN, provided)
    assert module.same
    assert not {"math", "annotations", "_x"} & vars(module).keys()


def test_our_own_future_imports_are_not_inherited() -> None:
    module = load_submission({MAIN: b"def f(x: int): ...\n"}, MAIN, None)
    assert module.f.__annotations__ == {"x": int}


def test_a_dataclass_with_text_annotations_can_be_made() -> None:
    source = b"from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\n"
    module = load_submission({MAIN: source + b"class A:\n    x: int = 1\n"}, MAIN, None)
    assert module.A().x == 1


def test_a_file_does_not_shadow_a_library() -> None:
    files = {MAIN: b"import random\nx = random.random()\n", "random.py": b"1 / 0"}
    assert 0 <= load_submission(files, MAIN, None).x < 1


def test_tracebacks_and_inspect_show_the_source() -> None:
    module = load_submission({MAIN: b"def f():\n    return 1 / 0  # here\n"}, MAIN, None)
    assert "# here" in inspect.getsource(module.f)
    with pytest.raises(ZeroDivisionError) as caught:
        module.f()
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
        load_submission({MAIN: b"", "other.py": source}, MAIN, None)
    failure = caught.value.failure
    assert (failure.kind, failure.syntax_line) == (kind, line)
    assert failure.frames[0].file == "other.py"
    assert failure.message


def test_a_compiler_warning_is_not_an_error() -> None:
    with pytest.warns(DeprecationWarning, match="invalid escape"):
        assert load_submission({MAIN: rb"x = '\d'"}, MAIN, None).x == r"\d"


def test_an_installed_submission_stays_importable_until_it_is_removed() -> None:
    submission = Submission({MAIN: b"import later_part\n", "later_part.py": b"x = 1"}, MAIN, None)
    submission.install()
    assert importlib.import_module("later_part").x == 1
    submission.uninstall()
    assert "later_part" not in sys.modules


# --- one more file --------------------------------------------------------------------------------


@pytest.fixture
def installed() -> Iterator[Submission]:
    source = b"import math\n_kept = 1\ndef f(): return 2\nglobals()[5] = 5\n__builtins__ = {}\n"
    submission = Submission({MAIN: source}, MAIN, b"given = 3\n")
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
