"""Each rule on a folder that breaks it in one place; the bank is linted in tests/problems."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from judge.grader.messages import CheckCard
from judge.problem import load_problem
from judge.proof.lint import lint
from judge.proof.outcomes import Case, Finding
from tests.small_problem import FILES, MANIFEST, MUTANTS, write_problem

STATEMENT = FILES["statement.md"]
CHECKS = [
    CheckCard("T0", "test_t0_interface::test_call", "It can be called.", "interface", "It is."),
    CheckCard("T1", "test_t1_oracle::test_values", "Every entry is doubled.", "oracle", "It is."),
]
ROOTS = """\
import math


def double(x):
    width = x.shape[-1]
    return 2 * x * math.sqrt(width) / math.sqrt(width)
"""
ANSWER = "2 * x * math.sqrt(width) / math.sqrt(width)"


def cases_of(root: Path, checks: list[CheckCard] = CHECKS, /, **changed: str) -> dict[str, Case]:
    problem = load_problem(write_problem(root, **changed))
    return {case.id: case for case in lint(problem, checks)}


def only(case: Case, *, advice: bool = False) -> Finding:
    [finding] = case.findings
    assert finding.advice is advice
    assert finding.remedy
    return finding


def place(finding: Finding) -> str:
    """File, below the problem's folder, and line."""
    path = Path(finding.file)
    assert path.is_file()
    parts = path.parts[len(path.parts) - path.parts[::-1].index("double") :]
    return f"{'/'.join(parts)}:{finding.line}"


def line_of(text: str, wanted: str) -> int:
    [line] = [at for at, line in enumerate(text.splitlines(), 1) if wanted in line]
    return line


def with_reference(mutants: str = MUTANTS) -> dict[str, str]:
    """Changes that make the reference one with a line worth hiding."""
    mutants = mutants.replace("\n    return 2 * x\n", "\n    width = x.shape[-1]\n")
    mutants = mutants.replace("\n    return x / 2\n", "\n    width = x.shape[0]\n")
    return {"reference_py": ROOTS, "mutants_toml": mutants}


# --- contract -----------------------------------------------------------------------------------


def test_a_sound_folder_is_only_advised_to_have_an_editorial(tmp_path: Path) -> None:
    cases = cases_of(tmp_path)
    assert {name for name, case in cases.items() if case.findings} == {"examples"}
    assert "editorial" in only(cases["examples"], advice=True).message
    assert all(case.holds for case in cases.values())


def test_a_name_that_is_explained_nowhere_is_found(tmp_path: Path) -> None:
    contract = "def double(x): ...\n\n# Twice, as a class.\nclass Twice:\n    factor: int\n"
    found = only(cases_of(tmp_path, contract_pyi=contract)["contract"])
    assert place(found) == "contract.pyi:5"
    assert "`Twice.factor`" in found.message


def test_a_parameter_that_is_explained_nowhere_is_found(tmp_path: Path) -> None:
    changed = {
        "contract_pyi": "# Twice x.\ndef double(\n    x,\n    times=1,\n): ...\n",
        "reference_py": "def double(x, times=1):\n    return 2 * x\n",
    }
    found = only(cases_of(tmp_path, **changed)["contract"])
    assert place(found) == "contract.pyi:4"
    assert "the parameter `times` of `double`" in found.message


@pytest.mark.parametrize(
    "contract",
    [
        "def double(x): ...\nclass Twice:\n    # Both.\n    once: int\n    again: int\n",
        'def double(x): ...\nclass Twice:\n    """Has once and again."""\n    once: int\n',
        "def double(x): ...\nclass Twice:\n    once: int  # a number\n",
    ],
)
def test_a_comment_or_docstring_in_the_contract_explains(tmp_path: Path, contract: str) -> None:
    statement = f"{STATEMENT}\n`Twice`\n"
    assert cases_of(tmp_path, contract_pyi=contract, statement_md=statement)["contract"].holds


@pytest.mark.parametrize("declared", ["y", "x=0", "x, /", "x, *, more"])
def test_an_entry_point_with_other_parameters_is_found(tmp_path: Path, declared: str) -> None:
    contract = f"# Of x, y and more.\ndef double({declared}): ...\n"
    found = only(cases_of(tmp_path, contract_pyi=contract)["contract"])
    assert place(found) == "contract.pyi:2"
    assert "`double(x)` in reference.py" in found.message


def test_a_method_with_other_parameters_is_found(tmp_path: Path) -> None:
    changed = {
        "contract_pyi": "class double:\n    def __init__(self, x): ...\n\n    # Of x.\n"
        "    def more(self, x): ...\n",
        "reference_py": "class double:\n    def __init__(self, x):\n        self.two = 2 * x\n\n"
        "    def more(self, x, y):\n        return x\n",
        "mutants_toml": MUTANTS.replace("\n    return 2 * x\n", "\n        return x\n").replace(
            "\n    return x / 2\n", "\n        return y\n"
        ),
    }
    found = only(cases_of(tmp_path, **changed)["contract"])
    assert place(found) == "contract.pyi:5"
    assert "`double.more(x)` is `double.more(x, y)`" in found.message


def test_an_entry_point_that_is_not_declared_is_found(tmp_path: Path) -> None:
    found = only(cases_of(tmp_path, contract_pyi="# Nothing.\n")["contract"])
    assert place(found) == "contract.pyi:1"


def test_a_contract_that_is_no_python_is_found(tmp_path: Path) -> None:
    found = only(cases_of(tmp_path, contract_pyi="\ndef double(x: ...\n")["contract"])
    assert place(found) == "contract.pyi:2"


# --- tiers --------------------------------------------------------------------------------------


def test_a_tier_that_the_statement_does_not_name_is_found(tmp_path: Path) -> None:
    statement = STATEMENT.replace("T1 looks at the numbers", "the numbers are right")
    found = only(cases_of(tmp_path, statement_md=statement)["tiers"])
    assert place(found) == f"statement.md:{line_of(statement, '## How')}"
    assert "T1 (Oracle)" in found.message


def test_a_statement_that_does_not_say_how_it_is_checked_is_found(tmp_path: Path) -> None:
    statement = STATEMENT.replace("## How it is checked", "## Checks")
    found = only(cases_of(tmp_path, statement_md=statement)["tiers"])
    assert place(found) == "statement.md:1"


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ("Every entry is doubled", "no sentence"),
        ("Wrong! It is doubled.", "exclamation mark"),
        (f"{'Very ' * 40}long.", "more than 160"),
        ("", "is empty"),
        ("It can be called.", "has the title of test_t0_interface::test_call"),
    ],
)
def test_a_title_that_does_not_serve_is_found(tmp_path: Path, title: str, message: str) -> None:
    wrong = CheckCard("T1", "test_t1_oracle::test_values[2]", title, "oracle", "It is.")
    found = only(cases_of(tmp_path, [CHECKS[0], wrong])["tiers"])
    assert place(found) == "checks/test_t1_oracle.py:5"
    assert message in found.message


def test_a_tier_without_a_check_is_found(tmp_path: Path) -> None:
    found = only(cases_of(tmp_path, CHECKS[:1])["tiers"])
    assert place(found) == f"problem.toml:{line_of(MANIFEST, 'test_t1_oracle.py')}"


# --- mathematics --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (r"\frac{1}{2", "braces"),
        (r"x}", "braces"),
        (r"\sofmax(x)", r"there is no command \sofmax"),
        (r"\left( x", r"\left and \right"),
        (r"x^2^3", "superscripts"),
        (r"\frac", "lacks"),
        (r"\begin{pmatrix} 1 & 2", r"no \end"),
        (r"\begin{pmatix} 1 & 2 \end{pmatix}", "`pmatix`"),
        (r"a & b", "outside of a matrix"),
    ],
)
def test_a_formula_that_cannot_be_drawn_is_found(
    tmp_path: Path, formula: str, message: str
) -> None:
    inline = only(
        cases_of(tmp_path, statement_md=f"{STATEMENT}\nIt is\n${formula}$.\n")["mathematics"]
    )
    assert place(inline) == f"statement.md:{STATEMENT.count(chr(10)) + 3}"
    assert message in inline.message
    alone = f"{STATEMENT}\n$$\n{formula}\n$$\n"
    assert message in only(cases_of(tmp_path, statement_md=alone)["mathematics"]).message


@pytest.mark.parametrize(
    "formula",
    [r"\{1, 2\}", r"\mathrm{out\_proj}", r"\begin{cases} a & b \\ c & d \end{cases}", r"a \& b",
     r"\operatorname{softmax}\!\Big(\frac{q\,k^\top}{\sqrt{d_h}}\Big)\, v", r"\tfrac18",
     r"x \in \R"],
)  # fmt: skip
def test_a_formula_that_can_be_drawn_is_not(tmp_path: Path, formula: str) -> None:
    assert cases_of(tmp_path, statement_md=f"{STATEMENT}\n${formula}$\n")["mathematics"].holds


def test_a_dollar_that_begins_no_formula_is_found_at_its_line(tmp_path: Path) -> None:
    statement = f"{STATEMENT}\n| a | b |\n|---|---|\n| `$` | $x |\n| $y$ | \\$5 |\n"
    found = only(cases_of(tmp_path, statement_md=statement)["mathematics"])
    assert place(found) == f"statement.md:{line_of(statement, '$x |')}"


def test_a_formula_in_an_examples_reasoning_is_looked_at(tmp_path: Path) -> None:
    example = "\n[[examples]]\ntitle = 'One'\ncode = 'print(1)'\noutput = '1'\n"
    manifest = f"{MANIFEST}{example}reasoning = 'It is $\\foo$.'\n"
    found = only(cases_of(tmp_path, problem_toml=manifest)["mathematics"])
    assert place(found) == f"problem.toml:{line_of(manifest, 'reasoning')}"


def test_without_a_parser_formulas_are_skipped_and_it_is_said_why(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, statement_md=f"{STATEMENT}\n$\\foo$\n")
    program = (
        "import sys; sys.modules['latex2mathml.converter'] = None\n"
        "from pathlib import Path\n"
        "from judge.problem import load_problem\n"
        "from judge.proof.lint import lint\n"
        "for case in lint(load_problem(Path(sys.argv[1])), []):\n"
        "    print(case.id, case.holds, case.failed, case.skipped)\n"
    )
    command = [sys.executable, "-c", program, str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [line] = [line for line in said.splitlines() if line.startswith("mathematics")]
    assert line.startswith("mathematics False False formulas are parsed by an optional part")


# --- links --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "message"),
    [
        ("[a](other.md)", "leads nowhere"),
        ("[a](/api/problems)", "leads nowhere"),
        ("[a](#nowhere)", "no heading is called #nowhere"),
        ("[a](https://)", "names no site"),
        ("[a](http://example.org)", "not encrypted"),
        ("![a](https://example.org/a.png)", "pictures"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, markdown: str, message: str) -> None:
    statement = f"{STATEMENT}\nSee\nthere: {markdown}\n"
    found = only(cases_of(tmp_path, statement_md=statement)["links"])
    assert place(found) == f"statement.md:{line_of(statement, 'there:')}"
    assert message in found.message


def test_links_to_the_web_and_to_headings_lead_somewhere(tmp_path: Path) -> None:
    statement = (
        f"{STATEMENT}\n[a](https://example.org/b?c#d), <https://example.org>, [e](#doubling)\n"
    )
    assert cases_of(tmp_path, statement_md=statement)["links"].holds


@pytest.mark.parametrize("sources", ["[]", '["A book about numbers"]'])
def test_sources_that_name_nothing_are_found(tmp_path: Path, sources: str) -> None:
    line = line_of(MANIFEST, "sources =")
    lines = MANIFEST.splitlines(keepends=True)
    lines[line - 1] = f"sources = {sources}\n"
    found = only(cases_of(tmp_path, problem_toml="".join(lines))["links"])
    assert place(found) == f"problem.toml:{line if len(sources) > 2 else 1}"


def test_a_source_of_one_word_is_found_at_its_line(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("sources = [", 'sources = [\n    "Numbers",\n    ')
    found = only(cases_of(tmp_path, problem_toml=manifest)["links"])
    assert place(found) == f"problem.toml:{line_of(manifest, 'Numbers')}"


# --- leaks --------------------------------------------------------------------------------------


def test_code_of_the_reference_in_the_statement_is_found(tmp_path: Path) -> None:
    statement = f"{STATEMENT}\nThen\n`{ANSWER.replace(' ', '')}` is it.\n"
    found = only(cases_of(tmp_path, statement_md=statement, **with_reference())["leaks"])
    assert place(found) == f"statement.md:{line_of(statement, 'is it')}"
    assert "reference.py:6" in found.message


def test_code_of_the_reference_in_a_hint_is_found_at_the_hint(tmp_path: Path) -> None:
    hints = f'hints = [\n    "Begin.",\n    "Return `{ANSWER}`.",\n]\n'
    manifest = MANIFEST.replace("\n[limits]", f"{hints}\n[limits]")
    found = only(cases_of(tmp_path, problem_toml=manifest, **with_reference())["leaks"])
    assert place(found) == f"problem.toml:{line_of(manifest, ANSWER)}"


def test_code_of_the_reference_in_the_words_of_a_check_is_found(tmp_path: Path) -> None:
    told = CheckCard("T1", "test_t1_oracle::test_values", f"It is {ANSWER}.", "oracle", "It is.")
    found = only(cases_of(tmp_path, [CHECKS[0], told], **with_reference())["leaks"])
    assert place(found) == "checks/test_t1_oracle.py:5"


@pytest.mark.parametrize("sign", ["", "# "])
def test_code_of_the_reference_in_the_starter_is_found(tmp_path: Path, sign: str) -> None:
    starter = (
        f"import math\n\n\ndef double(x):\n    width = 1\n    {sign}return {ANSWER}\n    ...\n"
    )
    found = only(cases_of(tmp_path, starter_py=starter, **with_reference())["leaks"])
    assert place(found) == "starter.py:6"


def test_code_of_the_reference_in_a_comment_of_the_contract_is_found(tmp_path: Path) -> None:
    contract = f"# Returns\n# {ANSWER}\ndef double(x): ...\n"
    found = only(cases_of(tmp_path, contract_pyi=contract, **with_reference())["leaks"])
    assert place(found) == "contract.pyi:2"


def test_a_function_that_the_starter_holds_whole_is_no_secret(tmp_path: Path) -> None:
    helper = "\n\ndef scaled(x, width):\n    return x * math.sqrt(width) / math.sqrt(width)\n"
    changed = with_reference()
    changed["reference_py"] += helper
    statement = f"{STATEMENT}\n`x * math.sqrt(width) / math.sqrt(width)`\n"
    starter = f"import math\n\n\ndef double(x):\n    ...\n{helper}"
    given = cases_of(tmp_path / "a", starter_py=starter, statement_md=statement, **changed)
    assert given["leaks"].holds
    told = cases_of(tmp_path / "b", statement_md=statement, **changed)
    assert "reference.py:10" in only(told["leaks"]).message


# --- hints --------------------------------------------------------------------------------------


def test_a_symptom_that_is_no_sentence_is_found(tmp_path: Path) -> None:
    mutants = MUTANTS.replace("A quarter.", "A quarter")
    found = only(cases_of(tmp_path, mutants_toml=mutants)["hints"])
    assert place(found) == f"mutants.toml:{line_of(mutants, 'A quarter')}"
    assert "the symptom of halved" in found.message


def test_a_hint_that_gives_the_fix_is_found(tmp_path: Path) -> None:
    mutants = MUTANTS.replace("the factor is three.", f"the factor is three: `{ANSWER}`.")
    found = only(cases_of(tmp_path, **with_reference(mutants))["hints"])
    assert Path(found.file).name == "mutants.toml"
    assert "the hint of tripled has code of reference.py:6" in found.message


def test_a_hint_of_the_problem_that_is_no_sentence_is_found(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("\n[limits]", 'hints = ["Begin.", "Add"]\n\n[limits]')
    found = only(cases_of(tmp_path, problem_toml=manifest)["hints"])
    assert place(found) == f"problem.toml:{line_of(manifest, 'hints =')}"
    assert "hint 2" in found.message


# --- examples, limits, tolerances ---------------------------------------------------------------


def test_an_example_that_is_no_python_is_found_at_its_line(tmp_path: Path) -> None:
    manifest = (
        f'{MANIFEST}\n[[examples]]\ntitle = "One"\noutput = "1"\ncode = """\nx = 1\nprint(x\n"""\n'
    )
    [advice, found] = sorted(
        cases_of(tmp_path, problem_toml=manifest)["examples"].findings, key=lambda each: each.line
    )
    assert advice.advice
    assert place(found) == f"problem.toml:{line_of(manifest, 'print(x')}"


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("It may take 7 seconds.", True),
        ("It may take seven seconds.", True),
        ("At most 100 MiB.", True),
        ("It may take five seconds and 512 MiB.", False),
        ("Both are right, and the two show it.", False),
    ],
)
def test_a_limit_that_is_not_in_force_is_found(tmp_path: Path, sentence: str, line: bool) -> None:
    statement = f"{STATEMENT}\n{sentence}\n"
    case = cases_of(tmp_path, statement_md=statement)["limits"]
    places = [place(found) for found in case.findings if not found.advice]
    assert places == ([f"statement.md:{line_of(statement, sentence)}"] if line else [])


def test_a_time_that_is_perhaps_no_limit_is_advice(tmp_path: Path) -> None:
    case = cases_of(tmp_path, statement_md=f"{STATEMENT}\nTwo seconds pass.\n")["limits"]
    assert only(case, advice=True).message.startswith("'Two seconds'")


def test_a_tolerance_that_no_check_uses_is_advice(tmp_path: Path) -> None:
    statement = f"{STATEMENT}\nWith rtol $10^{{-7}}$\nand atol `2e-8`.\n"
    found = only(cases_of(tmp_path / "a", statement_md=statement)["tolerances"], advice=True)
    assert place(found) == f"statement.md:{line_of(statement, 'and atol')}"
    oracle = FILES["checks/test_t1_oracle.py"].replace("x + x)", "x + x, atol=2e-8)")
    changed = {"statement_md": statement, "checks_test_t1_oracle_py": oracle}
    assert cases_of(tmp_path / "b", **changed)["tolerances"].findings == []
