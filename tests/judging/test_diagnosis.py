"""The hint for a known mistake: given when exactly one explains every answer, else not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.problem import Problem
from judge.results import Result
from judge.verdicts import Verdict
from tests.judging.tiny import HEADER, check_source, tiny_problem

REFERENCE = "def double(x):\n    factor = 2\n    return factor * x\n"
COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
TRIPLES = b"def double(x):\n    return x + x + x\n"


def pitfall(name: str, replacement: str) -> str:
    return f"""
[[mutants]]
id = "{name}"
title = "{name}"
find = "    factor = 2"
replace = '''{replacement}'''
symptom = "Wrong numbers."
hint = "Your result is exactly what you get with {name}."
pitfall = true
tier = "T1"
"""


def judged(judge: Judge, root: Path, mutants: str, source: bytes = TRIPLES) -> Result:
    problem: Problem = tiny_problem(
        root,
        COMPARES,
        reference=REFERENCE,
        mutants_toml=mutants,
        checks_test_t0_interface_py=HEADER + check_source("nothing", "pass"),
    )
    return judge.judge(problem, {"solution.py": source})


def test_the_one_mistake_that_fits_is_named(warm_judge: Judge, tmp_path: Path) -> None:
    mutants = pitfall("three", "    factor = 3") + pitfall("four", "    factor = 4")
    found = judged(warm_judge, tmp_path, mutants).diagnosis
    assert [each.pitfall for each in found] == ["three"]


def test_of_two_mistakes_that_fit_none_is_named(warm_judge: Judge, tmp_path: Path) -> None:
    mutants = pitfall("three", "    factor = 3") + pitfall("also-three", "    factor = 1 + 2")
    assert judged(warm_judge, tmp_path, mutants).diagnosis == []


def test_a_mistake_that_does_not_explain_every_answer_is_not_named(
    warm_judge: Judge, tmp_path: Path
) -> None:
    sometimes = b"""\
calls = 0

def double(x):
    global calls
    calls += 1
    return 3 * x if calls > 1 else 4 * x
"""
    body = COMPARES + "\nassert_close(submission.double(x), x + x)"
    problem = tiny_problem(
        tmp_path,
        "x = rng.normal(3)\nsubmission.double(x)\nassert_close(submission.double(x), x + x)",
        body,
        reference=REFERENCE,
        mutants_toml=pitfall("three", "    factor = 3"),
        checks_test_t0_interface_py=HEADER + check_source("nothing", "pass"),
    )
    assert warm_judge.judge(problem, {"solution.py": sometimes}).diagnosis == []


@pytest.mark.parametrize(
    "draws",
    ["random.random()", "np.random.random()", "torch.rand(()).item()"],
)
def test_a_mistake_that_draws_from_a_global_generator_is_named(
    warm_judge: Judge, tmp_path: Path, draws: str
) -> None:
    imports = "import random\nimport numpy as np\nimport torch\n"
    mutants = pitfall("noisy", f"    factor = 2 + {draws}") + pitfall("three", "    factor = 3")
    problem = tiny_problem(
        tmp_path,
        COMPARES,
        reference=imports + REFERENCE,
        mutants_toml=mutants,
        checks_test_t0_interface_py=HEADER + check_source("nothing", "pass"),
    )
    noisy = f"{imports}def double(x):\n    return x * (2 + {draws})\n".encode()
    (found,) = warm_judge.judge(problem, {"solution.py": noisy}).diagnosis
    assert found.pitfall == "noisy"


@pytest.mark.parametrize(
    "draws",
    [
        "3 + random.random()",
        "(np.random.seed(0), 3 + np.random.random())[1]",
        "3 + torch.rand(()).item()",
    ],
)
def test_a_mistake_that_draws_while_it_is_imported_is_named(
    warm_judge: Judge, tmp_path: Path, draws: str
) -> None:
    imports = "import random\nimport numpy as np\nimport torch\n"
    replacement = (
        f"    factor = DRAWN\n    return factor * x\n\nDRAWN = {draws}\n\ndef unused(factor, x):"
    )
    problem = tiny_problem(
        tmp_path,
        COMPARES,
        reference=imports + REFERENCE,
        mutants_toml=pitfall("noisy", replacement) + pitfall("three", "    factor = 3"),
        checks_test_t0_interface_py=HEADER + check_source("nothing", "pass"),
    )
    noisy = f"{imports}DRAWN = {draws}\ndef double(x):\n    return x * DRAWN\n".encode()
    (found,) = warm_judge.judge(problem, {"solution.py": noisy}).diagnosis
    assert found.pitfall == "noisy"


def test_what_a_mistake_changes_while_it_is_imported_reaches_no_other_submission(
    warm_judge: Judge, tmp_path: Path
) -> None:
    changes = """\
    factor = 3
    return factor * x

import torch
torch.set_default_dtype(torch.float64)

def unused(factor, x):"""
    asks = "import torch\nassert torch.get_default_dtype() is torch.float32\n"
    problem = tiny_problem(
        tmp_path,
        asks + COMPARES,
        reference=REFERENCE,
        mutants_toml=pitfall("three", changes),
        checks_test_t0_interface_py=HEADER + check_source("nothing", "pass"),
    )
    wrong = warm_judge.judge(problem, {"solution.py": TRIPLES})
    assert [each.pitfall for each in wrong.diagnosis] == ["three"]
    right = warm_judge.judge(problem, {"solution.py": REFERENCE.encode()})
    assert right.verdict is Verdict.AC


RAISES_AT_IMPORT = """\
    factor = 3
    return factor * x

1 / 0

def unused(factor, x):"""


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param(RAISES_AT_IMPORT, id="raises-at-import"),
        pytest.param("    raise OSError('in a call')\n    factor = 3", id="raises-in-a-call"),
        pytest.param("    while True: pass\n    factor = 3", id="never-ends"),
        pytest.param("    raise SystemExit(3)\n    factor = 3", id="exits-in-a-call"),
        pytest.param(RAISES_AT_IMPORT.replace("1 / 0", "exit(3)"), id="exits-at-import"),
    ],
)
def test_a_mistake_that_breaks_while_it_is_tried_changes_no_verdict(
    warm_judge: Judge, tmp_path: Path, replacement: str
) -> None:
    mutants = pitfall("broken", replacement) + pitfall("three", "    factor = 3")
    result = judged(warm_judge, tmp_path, mutants)
    assert result.verdict is Verdict.WA
    assert [each.pitfall for each in result.diagnosis] == ["three"]
