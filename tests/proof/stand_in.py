"""A pytest plugin that proves in no time: every folder comes to the same proof."""

from __future__ import annotations

import pytest

from judge.judging import Judge
from judge.problem import Problem
from judge.proof.outcomes import CaseKind, Proof
from judge.pytest_plugin import PROVE
from tests.proof.proofs import case, finding, proven


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[PROVE] = prove


def prove(judge: Judge, problem: Problem, seeds: int) -> Proof:
    """What tests of the plugin expect of any folder."""
    del judge
    cases = [
        case(CaseKind.REFERENCE, "accepted", "The reference is accepted."),
        case(
            CaseKind.MUTANT, "tripled", "Tripled", finding(f"\x1b[31mnot noticed on {seeds} seeds")
        ),
        case(CaseKind.MUTANT, "halved", "Halved", finding("a hint would help", advice=True)),
        case(CaseKind.STABILITY, "other-sandbox", "Elsewhere", skipped="needs docker: none"),
    ]
    return proven().model_copy(update={"problem": problem.slug, "cases": cases})
