"""A valid problem, as small as can be, for tests that then break it in one place."""

from __future__ import annotations

from pathlib import Path

MANIFEST = """\
id = "double"
title = "Doubling"
track = "papers"
number = 7
summary = "Double a tensor."
tags = ["torch"]
entry_points = ["double"]
sources = ["Euclid, Elements, book VII (in the edition of Heath, 1908)"]

[limits]
wall_s = 5.0
cpu_s = 5.0
memory_bytes = 536_870_912
output_bytes = 65_536
source_bytes = 65_536

[[tiers]]
id = "T0"
title = "Interface"
about = "It can be called."
checks = "checks/test_t0_interface.py"
visible = true

[[tiers]]
id = "T1"
title = "Oracle"
about = "The numbers are right."
checks = "checks/test_t1_oracle.py"
requires = ["T0"]

[[files]]
name = "solution.py"
role = "solution"
starter = "starter.py"
"""

MUTANTS = '''\
[[mutants]]
id = "tripled"
title = "Tripled"
find = "2 * x"
replace = "3 * x"
symptom = "Half as much again."
hint = "Your result is exactly what you get when the factor is three."
pitfall = true
tier = "T1"

[[mutants]]
id = "halved"
title = "Halved"
find = """
    return 2 * x
"""
replace = """
    return x / 2
"""
symptom = "A quarter."
pitfall = false
tier = "T1"
'''

FILES = {
    "problem.toml": MANIFEST,
    "mutants.toml": MUTANTS,
    "statement.md": (
        "# Doubling\n\n`double(x)` returns $2x$.\n\n"
        "## How it is checked\n\nT0 calls it, T1 looks at the numbers.\n"
    ),
    "contract.pyi": "def double(x): ...\n",
    "starter.py": "def double(x):\n    ...\n",
    "reference.py": "def double(x):\n    return 2 * x\n",
    "checks/test_t0_interface.py": (
        "from judge.checks import check\n\n\n"
        '@check(kind="interface", why="Later checks call it.")\n'
        "def test_call(submission, rng):\n"
        '    """It can be called."""\n'
        "    submission.double(rng.normal(2))\n"
    ),
    "checks/test_t1_oracle.py": (
        "from judge.checks import assert_close, check\n\n\n"
        '@check(kind="oracle", why="Everything later is built on it.")\n'
        "def test_values(submission, rng):\n"
        '    """Every entry is doubled."""\n'
        "    x = rng.normal(2, 3)\n"
        "    assert_close(submission.double(x), x + x)\n"
    ),
    "submissions/accepted/sum.py": "def double(x):\n    return x + x\n",
    "submissions/accepted/times.py": "def double(x):\n    return x * 2\n",
    "submissions/accepted/shift.py": "def double(x):\n    return x - (-x)\n",
    "submissions/rejected/T1/same.py": "def double(x):\n    return x\n",
}


def write_problem(root: Path, **changed: str) -> Path:
    """Write the problem into `root/double`; `changed` replaces whole files by stem and suffix.

    A keyword names a file with its dot and slashes as underscores, `problem_toml` for one.
    """
    folder = root / "double"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        key = name.replace("/", "_").replace(".", "_")
        path.write_text(changed.pop(key, text), encoding="utf-8")
    assert not changed, f"no such files: {changed}"
    return folder
