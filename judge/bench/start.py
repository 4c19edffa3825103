"""How long a service takes from its start to the first verdict, with its data and images there.

The figure is in seconds, since that is what somebody waits. A cold pytest of the same checks, in
turns with it, says what seconds are worth on this machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from pydantic import Field

from judge.bench import targets
from judge.bench.baselines import ColdPytest
from judge.bench.measuring import median
from judge.bench.server import Place
from judge.bench.submitting import submit
from judge.bench.work import Work
from judge.client import Client
from judge.results import Record


class StartReport(Record):
    """The figures of `judge bench start`, in seconds from the start of the process."""

    rounds: int
    new_s: float = Field(description="to the first verdict of a new service, which makes its data")
    answers_s_p50: float = Field(description="until it answers, its data being there")
    verdict_s_p50: float = Field(description="... and to the verdict of what is submitted then")
    cold_pytest_s_p50: float
    ratio_verdict_to_cold_pytest: float
    cores: int
    sandbox: str
    problem: str
    targets: list[targets.Target]


def measure_start(place: Place, work: Work, rounds: int, step: Callable[[], None]) -> StartReport:
    """Start a service once with nothing there, and `rounds` times again; `step` after each of them.

    Raises `BaselineFailed`, `WrongVerdict`, `ClientError` and `SandboxError`.
    """
    cold = ColdPytest(work)
    _, new_s, sandbox = _start(place, work)
    answers_s, verdict_s, cold_s = [], [], []
    for _ in range(rounds):
        answers, verdict, _ = _start(place, work)
        answers_s.append(answers)
        verdict_s.append(verdict)
        cold_s.append(cold.run_ms() / 1000)
        step()
    return StartReport(
        rounds=rounds,
        new_s=new_s,
        answers_s_p50=median(answers_s),
        verdict_s_p50=median(verdict_s),
        cold_pytest_s_p50=median(cold_s),
        ratio_verdict_to_cold_pytest=median(verdict_s) / median(cold_s),
        cores=os.cpu_count() or 1,
        sandbox=sandbox,
        problem=work.problem.slug,
        targets=[
            targets.at_most("seconds to the first verdict", targets.START_S, median(verdict_s))
        ],
    )


def _start(place: Place, work: Work) -> tuple[float, float, str]:
    """Seconds until it answered, and to the verdict; the sandbox it was given in."""
    started = time.perf_counter()
    with place.serving(until_at_rest=False) as service, Client(service.url) as client:
        answers_s = time.perf_counter() - started
        done = submit(client, work.problem.slug, work.reference)
        verdict_s = time.perf_counter() - started
        return answers_s, verdict_s, client.result(done.id).environment.sandbox
