"""Running code of the problem's own beside its checks: what a proof is made of.

In a fork of the paused session, as a job is, but the code runs in this very process: for mutants of
the reference, null answers and the like, of which there are hundreds. A student's code never comes
here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
import torch

from judge.checks.charts import Charts
from judge.checks.current import Judging
from judge.checks.margins import margins_kept
from judge.checks.marks import check_id
from judge.checks.submission import Submission
from judge.grader.generators import Apart
from judge.grader.grading import CheckRunner, Checks, students_seed
from judge.grader.messages import ComparedMargin, Rehearsal, Rehearsed, RehearsedCheck
from judge.grader.nulls import STANDS, Nulled
from judge.grader.patience import OutOfPatience, interrupted_after
from sandbox.runner.generators import seed_generators
from sandbox.runner.loading import CompileRefused
from sandbox.text import printable

_SAID_CHARACTERS = 400


def rehearse(checks: Checks, runner: CheckRunner, rehearsal: Rehearsal, seed: int) -> Rehearsed:
    """Run the checks on the code of `rehearsal`, with `seed`."""
    torch.set_num_threads(rehearsal.threads)
    deadline = time.monotonic() + rehearsal.budget_s
    seed_generators(students_seed(seed))
    try:
        with interrupted_after(rehearsal.patience_s, "importing it"):
            submission = _submission(checks, rehearsal)
    except (Exception, OutOfPatience, SystemExit) as error:  # noqa: BLE001  # a mutant may raise anything
        return Rehearsed([], _said(error), late=isinstance(error, OutOfPatience))
    seed_generators(seed + rehearsal.noise)
    done: list[RehearsedCheck] = []
    for tier, item in _in_order(checks, rehearsal):
        left_s = min(rehearsal.patience_s, deadline - time.monotonic())
        if left_s <= 0:
            done.append(RehearsedCheck(tier, check_id(item), "no time was left for it", 0.0, True))
        else:
            done.append(_rehearsed(runner, submission, seed, tier, item, left_s))
        if rehearsal.first_failure_only and done[-1].error is not None:
            break
    return Rehearsed(done, late=any(check.late for check in done))


def _submission(checks: Checks, rehearsal: Rehearsal) -> Submission:
    setting = checks.pack.setting
    own = Apart.from_sources({setting.main: rehearsal.source}, setting)
    return Nulled(own, STANDS[rehearsal.stand]) if rehearsal.stand else own


def _in_order(checks: Checks, rehearsal: Rehearsal) -> Sequence[tuple[str, pytest.Item]]:
    wanted = rehearsal.tiers or checks.by_tier.keys()
    items = [(tier, item) for tier in wanted for item in checks.by_tier[tier]]
    if rehearsal.order is not None:
        random.Random(rehearsal.order).shuffle(items)  # noqa: S311  # nothing here is to be secret
    return items


def _rehearsed(
    runner: CheckRunner,
    submission: Submission,
    seed: int,
    tier: str,
    item: pytest.Item,
    patience_s: float,
) -> RehearsedCheck:
    with margins_kept() as margins:
        outcome = runner.run(item, Judging(submission, seed, Charts("submission")), patience_s)
    return RehearsedCheck(
        tier=tier,
        id=check_id(item),
        error=None if outcome.error is None else _said(outcome.error),
        wall_ms=round(outcome.wall_ms, 3),
        late=isinstance(outcome.error, OutOfPatience),
        margins=[ComparedMargin(each.what, each.dtype, each.share) for each in margins],
    )


def _said(error: BaseException) -> str:
    if isinstance(error, CompileRefused):
        failure = error.failure
        return printable(f"{failure.kind}: {failure.message}", _SAID_CHARACTERS)
    if isinstance(error, AssertionError | OutOfPatience) and str(error):
        return printable(str(error), _SAID_CHARACTERS)
    return printable(f"{type(error).__name__}: {error}", _SAID_CHARACTERS)
