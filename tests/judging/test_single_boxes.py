"""Where namespaces inside boxes are refused, every submission has a box of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge.judging import Judge
from judge.slots import Slot, runner_spec
from judge.verdicts import Verdict
from sandbox.boxes import Launcher
from tests.judging.boxes import with_only
from tests.judging.tiny import HEADER, check_source, tiny_problem
from tests.sandbox.conftest import make_launcher

COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
LEAVES_A_NOTE = b"""\
import os

def double(x):
    if os.path.exists("/tmp/note"):
        return x
    open("/tmp/note", "w").close()
    return x + x
"""
DIES_AND_THEN_NEVER_ENDS = b"""\
import os

def double(x):
    if len(x) == 2:
        os._exit(3)
    while True:
        pass
"""


@pytest.fixture(scope="module")
def single_slot(launcher: Launcher, warm_judge: Judge) -> Iterator[Slot]:
    """A slot beside a warm grader, whose boxes are refused namespaces inside."""
    single = make_launcher(launcher.name, nested=False)
    slot = Slot(lambda: single.launch(runner_spec(), warm_judge._shared), None, single.name)
    yield slot
    slot.kill()
    single.close()


@pytest.fixture
def single_judge(warm_judge: Judge, single_slot: Slot) -> Iterator[Judge]:
    """A judge that has this slot, as long as the test lasts."""
    with with_only(warm_judge, single_slot) as judge:
        yield judge


def test_submissions_follow_each_other_and_leave_nothing_behind(
    single_judge: Judge, tmp_path: Path
) -> None:
    nothing = HEADER + check_source("nothing", "pass")
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=nothing)
    verdicts = []
    for _ in range(2):
        result = single_judge.judge(problem, {"solution.py": LEAVES_A_NOTE})
        assert result.environment.sandbox.endswith("/single")
        verdicts.append(result.verdict)
    assert verdicts == [Verdict.AC] * 2


@pytest.mark.parametrize("launcher", ["docker"], indirect=True)
def test_a_tier_after_a_dead_child_has_a_fresh_one_in_the_same_box_which_is_tle_if_it_never_ends(
    single_judge: Judge, tmp_path: Path
) -> None:
    # A check of its own: the grader knows versions by what is in the folder, which stays the same.
    interface = HEADER + check_source("dies", "submission.double(rng.normal(2))")
    problem = tiny_problem(tmp_path, COMPARES, wall_s=1.0, checks_test_t0_interface_py=interface)
    tiers = tuple(tier.model_copy(update={"requires": ()}) for tier in problem.tiers)
    manifest = problem.manifest.model_copy(update={"tiers": tiers})
    undemanding = replace(problem, manifest=manifest)  # no author may write such a problem
    result = single_judge.judge(undemanding, {"solution.py": DIES_AND_THEN_NEVER_ENDS})
    assert [tier.verdict for tier in result.tiers] == [Verdict.RE, Verdict.TLE]


@pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)
def test_a_measurement_that_needs_a_fresh_child_has_one_in_the_same_box(
    single_judge: Judge, tmp_path: Path
) -> None:
    measures = """
    submission.double(torch.ones(40 << 18))
    cost = submission.measure("double", torch.ones(2 << 18))
    assert 5 << 20 < cost.peak_bytes < 20 << 20
    """
    right = "def double(x):\n    return 2 * x[:3]\n"
    problem = tiny_problem(tmp_path, measures, reference=right)
    result = single_judge.judge(problem, {"solution.py": right.encode()})
    assert result.verdict is Verdict.AC, result.tiers[1].checks
    assert result.environment.sandbox.endswith("/single")
