from __future__ import annotations

import ast
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from judge.manifest import MutantList
from judge.problem import Problem, load_problem
from judge.proof import operators
from judge.proof.edits import Operator
from judge.proof.generated import (
    FROM_COSMIC_RAY,
    MOST,
    Generated,
    equivalence,
    equivalent_entry,
    generate,
    generate_from,
    unused_equivalents,
)
from judge.settings import Settings
from tests.small_problem import MUTANTS, write_problem

PROBLEMS = sorted(path.parent for path in Settings().problems.glob("*/reference.py"))
EXAMPLES = [
    ("arith", "a + b", "a - b"),
    ("arith", "a * b", "a / b"),
    ("arith", "a // b", "a * b"),
    ("arith", "a ** b", "a * b"),
    ("compare", "a < b", "a <= b"),
    ("compare", "a < b", "a >= b"),
    ("compare", "a is None", "a is not None"),
    ("unary", "-a", "a"),
    ("unary", "f(~mask)", "f(mask)"),
    ("unary", "not a", "a"),
    ("number", "f(2)", "f(3)"),
    ("number", "f(2)", "f(1)"),
    ("number", "x[1:]", "x[2:]"),
    ("bool", "f(True)", "f(False)"),
    ("logic", "a and b", "a or b"),
    ("clause", "a or b or c", "a or c"),
    ("clause", "(a) or (b)", "(b)"),
    ("condition", "x if a.any() else y", "x if not a.any() else y"),
    ("condition", "[a for a in b if a or c]", "[a for a in b if not (a or c)]"),
    ("condition", "np.where(mask, a, b)", "np.where(~mask, a, b)"),
    ("condition", "x.masked_fill(a | b, 0)", "x.masked_fill(~(a | b), 0)"),
    ("in", "a in b", "a not in b"),
    ("in", "a not in b", "a in b"),
    ("operands", "a @ b", "b @ a"),
    ("operands", "a @ b.T / c", "b.T @ a / c"),
    ("operands", "a @ b / c", "c / (a @ b)"),
    ("operands", "a / (1 - b)", "(1 - b) / a"),
    ("args", "f(a, b)", "f(b, a)"),
    ("args", "x.reshape(n, h, d)", "x.reshape(n, d, h)"),
    ("order", "f((a, b))", "f((b, a))"),
    ("order", "x[:, None]", "x[None, :]"),
    ("transpose", "a.T", "a"),
    ("transpose", "(a + b).mT", "(a + b)"),
    ("transpose", "a.transpose(1, 2)", "a"),
    ("transpose", "a.transpose(1, 2)", "a.transpose(0, 2)"),
    ("transpose", "a.transpose(-2, -1)", "a.transpose(-2, -3)"),
    ("transpose", "a.transpose(1, 0, 2)", "a.transpose(0, 1, 2)"),
    ("transpose", "a.permute((0, 2, 1))", "a.permute((2, 0, 1))"),
    ("transpose", "np.swapaxes(a, 0, 1)", "a"),
    ("axis", "x.sum(dim=-1)", "x.sum(dim=-2)"),
    ("axis", "x.sum(-1)", "x.sum(0)"),
    ("axis", "np.max(x, 1)", "np.max(x, 0)"),
    ("axis", "x.shape[-2]", "x.shape[-1]"),
    ("axis", "torch.cat(a, 0)", "torch.cat(a, 1)"),
    ("keyword", "f(a, scale=b)", "f(a)"),
    ("keyword", "f(scale=b, p=c)", "f(p=c)"),
    ("bound", "x[:n]", "x[:n - 1]"),
    ("bound", "x[n:]", "x[n + 1:]"),
    ("bound", "range(n)", "range(n - 1)"),
    ("function", "torch.tril(a)", "torch.triu(a)"),
    ("function", "a.sum()", "a.mean()"),
    ("unwrap", "a / math.sqrt(b)", "a / b"),
    ("unwrap", "math.sqrt(a + b) / 2.5", "(a + b) / 2.5"),
    ("unwrap", "(a + b).softmax()", "(a + b)"),
    ("scale", "a + 1e-05", "a + 0.0001"),
]
STATEMENTS = [
    ("drop", "a = 1\n    a += b", "a = 1\n    pass"),
    ("drop", "if a: raise OSError\n    return b", "if a: pass\n    return b"),
    ("drop", "if a:\n        return c\n    return b", "if a:\n        pass\n    return b"),
    ("drop", "self.a = b", "pass"),
    ("drop", "assert a, b", "pass"),
    ("augmented", "a += b", "a -= b"),
    ("unpack", "n, d = x.shape", "d, n = x.shape"),
    ("condition", "if a: b()", "if not a: b()"),
    ("condition", "while a: b()", "while not a: b()"),
    ("loop", "for a in b: c()", "for a in []: c()"),
    ("jump", "for a in b: break", "for a in b: continue"),
    ("jump", "for a in b: continue", "for a in b: break"),
    ("unpack", "é, d = x.shape; return d", "d, é = x.shape; return d"),
    ("default", "def f(a, b=c): pass", "def f(a, b): pass"),
    ("number", "def f(a=0.5): pass", "def f(a=1.5): pass"),
]


def made_of(text: str) -> list[Generated]:
    return generate_from(text.encode())


def keys_of(made: list[Generated]) -> set[str]:
    return {each.id.split("-")[1] for each in made}


def function(body: str) -> str:
    return f"import math\nimport numpy as np\nimport torch\n\n\ndef f(*given):\n    {body}\n"


def becomes(key: str, text: str) -> list[str]:
    return [each.source.decode() for each in made_of(text) if f"-{key}-" in each.id]


@pytest.mark.parametrize(("key", "before", "after"), EXAMPLES)
def test_an_operator_changes_an_expression(key: str, before: str, after: str) -> None:
    assert function(f"return {after}") in becomes(key, function(f"return {before}"))


@pytest.mark.parametrize(("key", "before", "after"), STATEMENTS)
def test_an_operator_changes_a_statement(key: str, before: str, after: str) -> None:
    assert function(after) in becomes(key, function(before))


def test_every_operator_has_an_example() -> None:
    own = {each.key for each in vars(operators).values() if isinstance(each, Operator)}
    used = {each.key for each in FROM_COSMIC_RAY.values()}
    assert own | used == {key for key, _, _ in EXAMPLES + STATEMENTS}


@pytest.mark.parametrize(
    "body",
    [
        '"""Not 2 + 2, nor a < b."""',
        "return",
        "import os",
        "a: tuple[1, 2] = b",
        "return hypot(a, b)",
        "return isinstance(a, b)",
        'return f"{1 + 2} of {a @ b}"',
        "return einsum('ij,jk', a)",
        "super().__init__()",
        "return a.contiguous()",
        "return zeros(n, n)",
        "return f(device=a.device)",
    ],
)
def test_nothing_is_made_of_what_can_make_no_difference(body: str) -> None:
    assert made_of(f"def f(*given):\n    {body}\n") == []


def test_annotations_decorators_and_messages_stay_as_they_are() -> None:
    text = (
        "@cached(1 + 1)\n"
        "def f(x: Shaped[2, 3], y: a | b) -> Shaped[4, 5]:\n"
        '    """Of 6 + 7."""\n'
        "    if x:\n"
        '        raise ValueError("8 of", 8 + 9)\n'
        '    assert y, "10 and " + str(11)\n'
        "    return g(x)\n"
    )
    assert [(each.id, each.after) for each in made_of(text)] == [
        ("4-condition-1", "if not x:"),
        ("5-drop-1", "pass"),
        ("6-condition-1", 'assert not y, "10 and " + str(11)'),
        ("6-drop-1", "pass"),
    ]


def test_names_that_would_only_be_missing_are_not_dropped() -> None:
    assert made_of("def f(x):\n    y = g(x)\n    return y\n") == []
    assert keys_of(made_of("def f(x):\n    x = g(x)\n    return x\n")) == {"drop"}


def test_arguments_of_own_functions_are_swapped_only_within_a_kind() -> None:
    text = (
        "def g(x: Tensor, n: int, m: int):\n    return h(x)\n\n\ndef f():\n    return g(a, b, c)\n"
    )
    assert [each.after for each in made_of(text)] == ["return g(a, c, b)"]


def test_an_axis_is_no_number_like_others() -> None:
    assert keys_of(made_of("def f(x):\n    return x.sum(dim=-1)\n")) == {
        "axis",
        "function",
        "keyword",
    }
    assert "number" not in keys_of(made_of("def f(x):\n    return x.transpose(1, 2)\n"))


def test_comments_and_layout_are_kept() -> None:
    text = "def f(a,  b):  # one\n    # two + 2\n    return (a\n        + b)  # three\n"
    (made,) = (each for each in made_of(text) if "-arith-" in each.id)
    assert made.source.decode() == text.replace("        + b", "        - b")
    assert made.diff == "@@ -4 +4 @@\n-        + b)  # three\n+        - b)  # three"
    assert (made.line, made.before, made.after) == (4, "+ b)  # three", "- b)  # three")


def test_a_statement_over_several_lines_is_dropped_whole() -> None:
    (made,) = made_of("def f(x):\n    g(\n        x,\n    )\n")
    assert made.diff == "@@ -2,3 +2 @@\n-    g(\n-        x,\n-    )\n+    pass"
    assert (made.before, made.after) == ("g(\nx,\n)", "pass")


def test_ids_of_other_lines_stay_when_one_changes() -> None:
    before = made_of("def f(a, b):\n    a += b\n    return a @ b\n")
    after = made_of("def f(a, b):\n    a = g(a, b)\n    return a @ b\n")
    assert [each.id for each in before if each.line == 3] == ["3-operands-1"]
    assert next(each.id for each in after if each.line == 3) == "3-operands-1"


@pytest.mark.parametrize("folder", PROBLEMS, ids=lambda folder: folder.name)
def test_mutants_of_a_reference_compile_and_are_all_different(folder: Path) -> None:
    problem = load_problem(folder)
    started = time.process_time()
    made = generate(problem)
    assert time.process_time() - started < 4  # a second, on a machine that does nothing else
    assert made == generate(problem)
    assert 20 < len(made) <= MOST
    assert [each.line for each in made] == sorted(each.line for each in made)
    assert len({each.id for each in made}) == len(made)
    trees = [ast.dump(ast.parse(each.source)) for each in made]
    assert len({*trees, ast.dump(ast.parse(problem.reference))}) == len(made) + 1
    for each in made:
        compile(each.source, each.id, "exec", dont_inherit=True)


def test_of_too_many_lines_and_operators_take_turns() -> None:
    lines = [f"    x = g(x + {n}, x * {n})\n" for n in range(200)]
    made = made_of(f"def f(x):\n{''.join(lines)}    return x\n")
    assert len(made) == MOST
    assert keys_of(made) >= {"arith", "number", "args", "drop"}
    assert len({each.line for each in made}) > 150


# --- equivalent ones ------------------------------------------------------------------------------


def with_equivalents(tmp_path: Path, *entries: str) -> Problem:
    return load_problem(write_problem(tmp_path, mutants_toml="\n".join([MUTANTS, *entries])))


def entry(becomes: str, line: str = "return 2 * x") -> str:
    return f'[[equivalent]]\nline = "{line}"\nbecomes = "{becomes}"\nreason = "As it is."\n'


def test_an_equivalent_mutant_has_its_authors_reason(tmp_path: Path) -> None:
    problem = with_equivalents(tmp_path, entry("return 2 + x"))
    reasons = {each.after: equivalence(each, problem) for each in generate(problem)}
    assert reasons["return 2 + x"] == "As it is."
    assert {reason for after, reason in reasons.items() if after != "return 2 + x"} == {""}


def test_an_entry_that_no_mutant_answers_to_is_found_on_its_line(tmp_path: Path) -> None:
    problem = with_equivalents(tmp_path, entry("return 2 + x"), entry("return 2 * y"))
    (unused,) = unused_equivalents(problem, generate(problem))
    text = unused.file.read_text(encoding="utf-8")
    assert unused.entry.becomes == "return 2 * y"
    assert text.splitlines()[unused.line - 1 : unused.line + 1] == [
        'line = "return 2 * x"',
        'becomes = "return 2 * y"',
    ]


@pytest.mark.parametrize(
    "statement",
    ["return a + b", "return a + 'it''s'", "g(\n        a + '''b''',\n    )", r"return a + '\d'"],
)
def test_a_pasted_entry_is_the_mutant_it_was_made_of(tmp_path: Path, statement: str) -> None:
    reference = f"def double(a, b):\n    {statement}\n"
    made = made_of(reference)[0]
    tree = tomllib.loads(equivalent_entry(made).replace('reason = ""', 'reason = "So."'))
    assert set(tree["equivalent"][0]) == {"line", "becomes", "reason"}
    problem = load_problem(write_problem(tmp_path))
    valid = MutantList.model_validate({"mutants": tomllib.loads(MUTANTS)["mutants"], **tree})
    known = Problem(
        problem.folder, problem.manifest, problem.mutants, problem.contents, valid.equivalent
    )
    assert equivalence(made, known) == "So."


def test_without_cosmic_ray_one_reads_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['cosmic_ray'] = None\n"
        "from judge.proof.generated import MutationUnavailable, generate_from\n"
        "try:\n    generate_from(b'x = 1')\n"
        "except MutationUnavailable as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "mutants are made with cosmic-ray: pip install 'judge[authors]'\n"
