"""Tiers that count for nothing: what they find is shown, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.judging import Judge
from judge.manifest import ProblemError
from judge.problem import Problem, load_problem
from judge.results import Result
from judge.verdicts import Verdict
from tests.small_problem import MANIFEST, write_problem

AFTER = """
[[tiers]]
id = "T2"
title = "Edges"
about = "The edges hold."
checks = "checks/test_t2_edges.py"
requires = ["T0"]

[[files]]"""
EDGES = (
    "from judge.checks import assert_close, check\n\n\n"
    '@check(kind="edge", why="A test needs it.")\n'
    "def test_two(submission, rng):\n"
    '    """Two are doubled as well."""\n'
    "    x = rng.normal(2)\n"
    "    assert_close(submission.double(x), 2 * x)\n"
)


def edited(*edits: tuple[str, str]) -> str:
    text = MANIFEST
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def three_tiers(root: Path, wall_s: float = 5.0) -> Problem:
    """The small problem, whose second tier is advisory, and a third that counts."""
    manifest = edited(
        ("wall_s = 5.0", f"wall_s = {wall_s}"),
        (
            'about = "The numbers are right."\n',
            'about = "The numbers are right."\nadvisory = true\n',
        ),
        ("[[files]]", AFTER.strip()),
    )
    folder = write_problem(root, problem_toml=manifest)
    (folder / "checks" / "test_t2_edges.py").write_text(EDGES, encoding="utf-8")
    return load_problem(folder)


def judged(judge: Judge, root: Path, code: str, wall_s: float = 5.0) -> Result:
    problem = three_tiers(root, wall_s)
    return judge.judge(problem, {"solution.py": code.encode()}, seed=1)


def tiers_of(result: Result) -> list[tuple[str, Verdict | None, bool]]:
    return [(tier.id, tier.verdict, tier.advisory) for tier in result.tiers]


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("return x if x.dim() == 2 else 2 * x", Verdict.WA),
        ("return 2 * x if x.dim() == 1 else 1 / 0", Verdict.RE),
        ("while x.dim() == 2: pass\n    return 2 * x", Verdict.TLE),
        ("print('x' * 5_000_000 if x.dim() == 2 else '')\n    return 2 * x", Verdict.OLE),
    ],
)
def test_what_fails_in_an_advisory_tier_alone_is_accepted(
    warm_judge: Judge, tmp_path: Path, body: str, verdict: Verdict
) -> None:
    wall_s = 2.0 if verdict is Verdict.TLE else 5.0  # of which it takes all
    result = judged(warm_judge, tmp_path, f"def double(x):\n    {body}\n", wall_s)
    assert tiers_of(result) == [
        ("T0", Verdict.AC, False), ("T1", verdict, True), ("T2", Verdict.AC, False),
    ]  # fmt: skip
    assert (result.verdict, result.score, result.failed_tier) == (Verdict.AC, 1.0, None)
    assert result.diagnosis == []
    assert result.tiers[1].checks[0].message


def test_what_passes_in_an_advisory_tier_alone_scores_nothing_for_it(
    warm_judge: Judge, tmp_path: Path
) -> None:
    result = judged(
        warm_judge, tmp_path, "def double(x):\n    return 2 * x if x.dim() > 1 else x\n"
    )
    assert tiers_of(result)[1:] == [("T1", Verdict.AC, True), ("T2", Verdict.WA, False)]
    assert (result.verdict, result.score, result.failed_tier) == (Verdict.WA, 0.5, "T2")


def test_the_import_after_an_advisory_tier_has_all_the_time_again(
    warm_judge: Judge, tmp_path: Path
) -> None:
    """Two are more than one submission's imports may take, and the second is not its doing."""
    code = b"import time\ntime.sleep(1.3)\ndef double(x):\n    return 2 * x\n"
    result = warm_judge.judge(three_tiers(tmp_path, wall_s=1.0), {"solution.py": code}, seed=1)
    assert tiers_of(result)[2] == ("T2", Verdict.AC, False), result.tiers[2].checks[0].message


def test_the_first_tier_is_not_advisory(tmp_path: Path) -> None:
    manifest = edited(("visible = true\n", "visible = true\nadvisory = true\n"))
    with pytest.raises(ProblemError, match="the first tier is advisory"):
        load_problem(write_problem(tmp_path, problem_toml=manifest))


def test_a_tier_that_counts_does_not_require_an_advisory_one(tmp_path: Path) -> None:
    after = AFTER.strip().replace('requires = ["T0"]', 'requires = ["T0", "T1"]')
    manifest = edited(('requires = ["T0"]\n', 'requires = ["T0"]\nadvisory = true\n'))
    manifest = manifest.replace("[[files]]", after)
    folder = write_problem(tmp_path, problem_toml=manifest)
    (folder / "checks" / "test_t2_edges.py").write_text(EDGES, encoding="utf-8")
    with pytest.raises(ProblemError, match="T2 counts, but requires T1, which is advisory"):
        load_problem(folder)
