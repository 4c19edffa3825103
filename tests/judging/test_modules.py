"""Exercises whose solution is a class, a module of a package, or needs a harness."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.problem import Problem
from judge.results import Result
from judge.verdicts import Verdict
from tests.chapters import PLANE, STACK, chapter, write

AFFINE = """\
import torch
from torch import nn


class Affine(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.width = width
        self.linear = nn.Linear(width, width)
        self.scale = scale

    def forward(self, x, twice=False):
        y = self.linear(x) * self.scale
        return self.linear(y) if twice else y

    def double(self, x):
        return 2 * x

    def total(self):
        return self.linear.weight.sum()
"""
CHECKS = '''\
import torch

from judge.checks import assert_close, check, gradients


@check(kind="oracle", why="It is used with weights that others have trained.")
def test_numbers_and_gradients(submission, rng):
    """Output and gradients follow from the state that was loaded."""
    x = rng.normal(5, 3, requires_grad=True)
    weight = rng.normal(3, 3, requires_grad=True)
    bias = rng.normal(3, requires_grad=True)
    state = {"linear.weight": weight, "linear.bias": bias}
    module = submission.module("Affine", 3, scale=2.0).with_state(state)
    cotangent = rng.normal(5, 3)
    output = module(x, twice=True)
    expected = ((x @ weight.T + bias) * 2) @ weight.T + bias
    assert_close(output, expected.detach())
    leaves = {"x": x, "weight": weight, "bias": bias}
    found = gradients([output], leaves, [cotangent])
    wanted = torch.autograd.grad(expected, list(leaves.values()), cotangent)
    for name, want in zip(leaves, wanted, strict=True):
        assert_close(found[name], want, what=name)


@check(kind="interface", why="It is saved and loaded by these names.")
def test_state_attributes_and_methods(submission, rng):
    """It has its names, its width and its method."""
    module = submission.module("Affine", 4)
    assert {name: tuple(tensor.shape) for name, tensor in module.state().items()} == {
        "linear.weight": (4, 4), "linear.bias": (4,),
    }
    assert module.attributes("width", "training") == (4, True)
    assert module.in_mode(training=False).attributes("training") == (False,)
    x = rng.normal(2)
    assert_close(module.method("double", x), 2 * x)
    weight = rng.normal(4, 4, requires_grad=True)
    loaded = module.with_state({"linear.weight": weight, "linear.bias": rng.normal(4)})
    (gradient,) = torch.autograd.grad(loaded.method("total"), weight, torch.ones(()).double())
    assert_close(gradient, torch.ones(4, 4).double())
    observed = module.observe(rng.normal(2, 4, dtype=torch.float32))
    assert observed.changed == ()
'''
MANIFEST_OF_CLASS = """\
id = "affine"
title = "Affine"
track = "papers"
number = 1
summary = "An affine map."
entry_points = ["Affine"]

[limits]
wall_s = 5.0
cpu_s = 5.0
memory_bytes = 536_870_912
output_bytes = 65_536
source_bytes = 65_536

[[tiers]]
id = "T0"
title = "All"
about = "Everything."
checks = "checks/test_t0_all.py"
visible = true

[[files]]
name = "solution.py"
starter = "starter.py"

[[forbidden]]
name = "torch.nn.Bilinear"
rule = "Bilinear maps are not allowed here."

[[forbidden]]
name = "torch.nn.functional.bilinear"
rule = "The function bilinear is not allowed here."

[[forbidden]]
name = "torch.trace"
rule = "The trace is not allowed here."
"""
MUTANTS = """\
[[mutants]]
id = "scale-dropped"
title = "Scale dropped"
find = " * self.scale"
replace = ""
symptom = "Half."
hint = "The scale is missing."
pitfall = true
tier = "T0"

[[mutants]]
id = "weights-detached"
title = "Weights detached"
find = "y = self.linear(x) * self.scale"
replace = "y = (x @ self.linear.weight.data.T + self.linear.bias) * self.scale"
symptom = "No gradient."
hint = "The weight is detached."
pitfall = true
tier = "T0"
"""


@pytest.fixture
def affine(tmp_path: Path) -> Problem:
    files = {
        "problem.toml": MANIFEST_OF_CLASS,
        "mutants.toml": MUTANTS,
        "statement.md": "# Affine\n",
        "contract.pyi": "class Affine: ...\n",
        "starter.py": "class Affine: ...\n",
        "reference.py": AFFINE,
        "checks/test_t0_all.py": CHECKS,
        **{f"submissions/accepted/{name}.py": AFFINE for name in "abc"},
    }
    return write(tmp_path / "affine", files)


def judged(judge: Judge, problem: Problem, source: str) -> Result:
    return judge.judge(problem, {problem.main_file: source.encode()}, seed=5)


def messages(result: Result) -> list[str]:
    return [check.message for tier in result.tiers for check in tier.checks if check.message]


def test_a_module_is_constructed_loaded_called_and_differentiated(
    warm_judge: Judge, affine: Problem
) -> None:
    result = judged(warm_judge, affine, AFFINE)
    assert messages(result) == []
    assert result.verdict is Verdict.AC


@pytest.mark.parametrize("number", [0, 1])
def test_a_mistake_in_a_module_is_recognised(
    warm_judge: Judge, affine: Problem, number: int
) -> None:
    mutant = affine.mutants[number]
    result = judged(warm_judge, affine, affine.mutate(mutant).decode())
    assert result.verdict is Verdict.WA
    assert [found.pitfall for found in result.diagnosis] == [mutant.id]


def test_a_class_that_is_missing_is_said_in_words(warm_judge: Judge, affine: Problem) -> None:
    result = judged(warm_judge, affine, AFFINE.replace("Affine", "Afine"))
    assert "does not define a class `Affine`. It does define `Afine`" in messages(result)[0]


def test_a_state_that_cannot_be_loaded_is_the_submissions_error(
    warm_judge: Judge, affine: Problem
) -> None:
    result = judged(warm_judge, affine, AFFINE.replace("self.linear", "self.other"))
    assert result.verdict is Verdict.RE
    assert "linear.weight" in messages(result)[0]


# --- rules ----------------------------------------------------------------------------------------

RULE = "Bilinear maps are not allowed here."
FUNCTION_RULE = "The function bilinear is not allowed here."
HIDDEN = {
    "attribute": ("nn.Bilinear(2, 2, 2)", RULE),
    "import": ("from torch.nn import Bilinear as B", RULE),
    "getattr": ("getattr(nn, 'Bi' + 'linear')(2, 2, 2)", RULE),
    "swallowed": (
        "\n        try: vars(nn)['Bi' + 'linear'](2, 2, 2)\n        except BaseException: pass",
        RULE,
    ),
    "subclass": (
        "type('Mine', (vars(nn)['Bi' + 'linear'],), {})(2, 2, 2)",
        RULE,
    ),
    "without-its-constructor": (
        "C = vars(nn)['Bi' + 'linear']; C.forward(object.__new__(C), x, x)",
        RULE,
    ),
    "function": ("getattr(nn.functional, 'bi' + 'linear')(x, x, x)", FUNCTION_RULE),
    "operator": ("getattr(torch, 'tra' + 'ce')(x[:3, :3])", "The trace is not allowed here."),
    "operator-of-the-dispatcher": (
        "getattr(torch.ops.aten, 'tra' + 'ce')(x[:3, :3])",
        "The trace is not allowed here.",
    ),
    "nested-tensors": (
        "getattr(torch, 'tra' + 'ce')(torch.nested.nested_tensor([x[:3, :3]]))",
        "The trace is not allowed here.",
    ),
    "handles-let-go": (
        "import sandbox.runner.forbidden as f; vars(f).clear(); vars(torch)['trace'](x[0])",
        "The trace is not allowed here.",
    ),
    "exit-replaced": (
        "import os; os._exit = os.write = lambda *a: None; vars(nn)['Bi' + 'linear'](2, 2, 2)",
        None,
    ),
}


@pytest.mark.parametrize("way", HIDDEN)
def test_a_forbidden_name_is_a_broken_rule_however_it_is_used(
    warm_judge: Judge, affine: Problem, way: str
) -> None:
    code, rule = HIDDEN[way]
    source = AFFINE.replace("        y = self", f"        {code}\n        y = self")
    result = judged(warm_judge, affine, source)
    if rule is None:  # it silenced us, and gave no result either
        assert result.verdict in (Verdict.RV, Verdict.RE, Verdict.TLE)
        return
    assert result.verdict is Verdict.RV
    assert messages(result) == [rule]
    detail = next(check.detail for check in result.tiers[0].checks if check.detail)
    assert detail.frames[-1].file == "solution.py"
    assert "inear" in detail.frames[-1].text or "ce" in detail.frames[-1].text


FILE = "nn.modules.linear.__file__"
READ_AGAIN = {
    "reloaded": "import importlib\nimportlib.reload(nn.modules.linear)",
    "its source": f"open({FILE}).read()",
    "its source by another way": f"import os; os.open('/.' + {FILE}, os.O_RDONLY)",
    "what was compiled of it": f"import importlib.util as u; open(u.cache_from_source({FILE}))",
}


@pytest.mark.parametrize("way", READ_AGAIN)
def test_what_is_forbidden_cannot_be_read_to_be_run_again(
    warm_judge: Judge, affine: Problem, way: str
) -> None:
    result = judged(warm_judge, affine, f"{AFFINE}\n{READ_AGAIN[way]}\n")
    assert result.verdict is Verdict.CE
    assert "PermissionError" in messages(result)[0]
    assert "linear" in messages(result)[0]


def test_a_forbidden_name_at_import_is_a_broken_rule(warm_judge: Judge, affine: Problem) -> None:
    source = AFFINE + "\ngetattr(nn, 'Bi' + 'linear')(2, 2, 2)\n"
    assert judged(warm_judge, affine, source).verdict is Verdict.RV


def test_names_that_only_look_alike_are_allowed(warm_judge: Judge, affine: Problem) -> None:
    own = """

class Bilinear:
    \"\"\"Not nn.Bilinear.\"\"\"

    def bilinear(self):
        return self.trace()

    def trace(self):
        self.Bilinear = Bilinear


Bilinear().bilinear()
"""
    source = AFFINE + own
    assert judged(warm_judge, affine, source).verdict is Verdict.AC


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch.trase", "there is nothing called torch.trase"),
        ("math.exp", "math.exp is neither written in Python nor an operator of torch"),
        ("torch.Size", "torch.Size has no functions written in Python"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_the_authors_fault(
    warm_judge: Judge, tmp_path: Path, name: str, words: str
) -> None:
    files = {
        "problem.toml": MANIFEST_OF_CLASS.replace("torch.trace", name),
        "mutants.toml": MUTANTS,
        "statement.md": "# Affine\n",
        "contract.pyi": "class Affine: ...\n",
        "starter.py": "class Affine: ...\n",
        "reference.py": AFFINE,
        "checks/test_t0_all.py": CHECKS,
        **{f"submissions/accepted/{name}.py": AFFINE for name in "abc"},
    }
    result = judged(warm_judge, write(tmp_path / "affine", files), AFFINE)
    assert result.verdict is Verdict.JE
    assert words in messages(result)[0]


# --- packages, harness, needs ---------------------------------------------------------------------


@pytest.fixture
def plane(tmp_path: Path) -> Problem:
    return chapter(tmp_path, "plane", PLANE, "2 * values")


@pytest.fixture
def stack(tmp_path: Path, plane: Problem) -> Problem:
    source = STACK.format(need=plane.slug, name="stack")
    return chapter(tmp_path, "stack", source, "2 * values + 1", needs='needs = ["plane"]')


def test_a_chapter_is_judged_through_its_harness_and_recognised(
    warm_judge: Judge, plane: Problem
) -> None:
    assert judged(warm_judge, plane, PLANE).verdict is Verdict.AC
    wrong = judged(warm_judge, plane, plane.mutate(plane.mutants[0]).decode())
    assert [found.hint for found in wrong.diagnosis] == ["Nothing is done."]


def test_an_error_inside_a_harness_shows_the_students_line(
    warm_judge: Judge, plane: Problem
) -> None:
    result = judged(warm_judge, plane, PLANE.replace("board.values * 2", "board.values / None"))
    assert result.verdict is Verdict.RE
    detail = result.tiers[0].checks[0].detail
    assert detail is not None
    assert [(frame.file, frame.line) for frame in detail.frames] == [("plane.py", 5)]


def test_a_harness_is_not_taken_for_what_a_submission_calls_so(
    warm_judge: Judge, plane: Problem
) -> None:
    false = "\n\nimport sys, types\nh = sys.modules['harness'] = types.ModuleType('harness')\n"
    false += "h.run = lambda values: 2 * values\n"
    wrong = PLANE.replace("* 2", "* 3")
    assert judged(warm_judge, plane, wrong + false).verdict is Verdict.WA


def test_a_chapter_stands_on_the_reference_of_the_one_before(
    warm_judge: Judge, stack: Problem
) -> None:
    assert stack.module_of_need("plane") == "shelf/made/plane.py"
    result = judged(warm_judge, stack, stack.reference.decode())
    assert messages(result) == []


def test_a_chapter_stands_on_the_students_own_solution_when_given(
    warm_judge: Judge, stack: Problem
) -> None:
    own = PLANE.replace("values * 2", "values * 3").encode()
    files = {"stack.py": stack.reference, "shelf/made/plane.py": own}
    result = warm_judge.judge(stack, files, seed=5)
    assert result.verdict is Verdict.WA
