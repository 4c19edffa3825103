"""A folder with an advisory tier, and a mistake that this tier alone notices."""

from __future__ import annotations

from pathlib import Path

from tests.small_problem import FILES, MANIFEST, MUTANTS, write_problem

TIER = """
[[tiers]]
id = "T2"
title = "Infinity"
about = "Infinity is doubled, too."
checks = "checks/test_t2_infinity.py"
requires = ["T0"]
advisory = true

[[files]]"""
CHECK = '''\
import torch

from judge.checks import check


@check(kind="edge", why="A test needs it.")
def test_infinity(submission):
    """Infinity stays what it is."""
    assert submission.double(torch.tensor([torch.inf])).item() == torch.inf
'''
MISTAKE = """
[[mutants]]
id = "nothing-added"
title = "Nothing added"
find = "2 * x"
replace = "2 * x + 0 * x"
symptom = "Infinity becomes NaN."
pitfall = false
tier = "T2"
"""


def write_advisory(root: Path) -> Path:
    """Write the small problem with both into `root/double`."""
    folder = write_problem(
        root,
        problem_toml=MANIFEST.replace("\n[[files]]", TIER),
        mutants_toml=MUTANTS + MISTAKE,
        statement_md=FILES["statement.md"].replace("numbers.", "numbers, T2 at infinity."),
    )
    (folder / "checks" / "test_t2_infinity.py").write_text(CHECK, encoding="utf-8")
    return folder
