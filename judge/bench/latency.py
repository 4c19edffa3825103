"""How long one submission takes while nothing else happens, beside its baselines."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import Field

from judge.bench import targets
from judge.bench.baselines import Bare, BaselineFailed, ColdPytest, DockerRun
from judge.bench.measuring import median, p95
from judge.bench.submitting import judging_ms, submit
from judge.bench.work import Work
from judge.client import Client
from judge.results import Record, Result

WARM_UP = 3
JUDGED_PER_ROUND = 5  # for one container and one process: what takes less is measured more often


class LatencyReport(Record):
    """The figures of `judge bench latency`, in milliseconds."""

    judge_ms_p50: float = Field(description="from POST to the `finished` event, over HTTP")
    judge_ms_p95: float
    docker_run_ms_p50: float | None = Field(
        description="one container per submission; null where there is no engine"
    )
    docker_run_ms_p95: float | None
    cold_pytest_ms_p50: float = Field(description="`python -m pytest` in a new process")
    cold_pytest_ms_p95: float
    bare_ms_p50: float = Field(description="the checks called in one warm process: the floor")
    bare_ms_p95: float
    ratio_docker_run_to_judge: float | None
    ratio_cold_pytest_to_judge: float
    ratio_judge_to_bare: float = Field(
        description="sandboxed judging alone, from claimed and read to the last tier "
        "(`judging_ms_p50`), over `bare_ms_p50`; without HTTP, queue and store"
    )
    cores: int
    sandbox: str
    checks: int = Field(description="how many each of the four passed")
    first_tier_ms_p50: float = Field(description="from POST to the first `tier_finished` event")
    first_tier_ms_p95: float
    judging_ms_p50: float = Field(
        description="from when it is claimed and read to the end of its last tier"
    )
    judging_ms_p95: float
    spans_ms_p50: dict[str, float] = Field(description="medians of the spans of the results")
    problem: str
    problem_version: str
    submissions: int
    rounds: int
    docker_run_missing: str = Field(default="", description="why there is no docker_run")
    targets: list[targets.Target]


@dataclass
class Samples:
    """What was measured so far."""

    judge: list[float] = field(default_factory=list)
    first_tier: list[float] = field(default_factory=list)
    docker_run: list[float] = field(default_factory=list)
    cold_pytest: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass
class Latency:
    """A measurement of one service. `container` is the reason when there is no such baseline."""

    work: Work
    client: Client
    bare: Bare
    container: DockerRun | str

    def measure(self, rounds: int, step: Callable[[], None]) -> LatencyReport:
        """Take the figures; `step` is called after each of `rounds`.

        Raises `BaselineFailed`, `WrongVerdict`, `ClientError` and `SandboxError`.
        """
        cold = ColdPytest(self.work)
        for _ in range(WARM_UP):
            submit(self.client, self.work.problem.slug, self.work.reference)
        samples = Samples()
        checks: set[int] = set()
        for _ in range(rounds):
            for _ in range(JUDGED_PER_ROUND):
                self._judge(samples)
                floor = self.bare.round()
                samples.bare.append(floor.wall_ms)
                checks.add(floor.passed)
            if isinstance(self.container, DockerRun):
                samples.docker_run.append(self.container.run_ms())
                checks.add(self.container.checks)
            samples.cold_pytest.append(cold.run_ms())
            checks |= {cold.checks, sum(tier.passed for tier in samples.results[-1].tiers)}
            step()
        if len(checks) != 1:
            raise BaselineFailed(f"not the same checks ran everywhere: {sorted(checks)}")
        return self._report(samples, rounds, checks.pop())

    def _judge(self, samples: Samples) -> None:
        done = submit(self.client, self.work.problem.slug, self.work.reference)
        samples.judge.append(done.finished_ms)
        samples.first_tier.append(done.first_tier_ms)
        samples.results.append(self.client.result(done.id))

    def _report(self, samples: Samples, rounds: int, checks: int) -> LatencyReport:
        missing = self.container if isinstance(self.container, str) else ""
        judged = [judging_ms(result) for result in samples.results]
        judge, first_tier = median(samples.judge), median(samples.first_tier)
        bare, cold = median(samples.bare), median(samples.cold_pytest)
        docker_run = median(samples.docker_run) if samples.docker_run else None
        last = samples.results[-1]
        return LatencyReport(
            judge_ms_p50=judge,
            judge_ms_p95=p95(samples.judge),
            docker_run_ms_p50=docker_run,
            docker_run_ms_p95=p95(samples.docker_run) if samples.docker_run else None,
            cold_pytest_ms_p50=cold,
            cold_pytest_ms_p95=p95(samples.cold_pytest),
            bare_ms_p50=bare,
            bare_ms_p95=p95(samples.bare),
            ratio_docker_run_to_judge=targets.ratio(docker_run, judge),
            ratio_cold_pytest_to_judge=cold / judge,
            ratio_judge_to_bare=median(judged) / bare,
            cores=os.cpu_count() or 1,
            sandbox=last.environment.sandbox,
            checks=checks,
            first_tier_ms_p50=first_tier,
            first_tier_ms_p95=p95(samples.first_tier),
            judging_ms_p50=median(judged),
            judging_ms_p95=p95(judged),
            spans_ms_p50=median_spans(samples.results),
            problem=last.problem,
            problem_version=last.problem_version,
            submissions=len(samples.judge),
            rounds=rounds,
            docker_run_missing=missing,
            targets=[
                targets.at_least(
                    "docker_run / judge", targets.DOCKER_RUN_TO_JUDGE,
                    targets.ratio(docker_run, judge), missing,
                ),
                targets.at_most(
                    "judge p95 / judge median", targets.P95_TO_MEDIAN, p95(samples.judge) / judge
                ),
                targets.at_least(
                    "docker_run / first tier", targets.DOCKER_RUN_TO_FIRST_TIER,
                    targets.ratio(docker_run, first_tier), missing,
                ),
                targets.at_most(
                    "judging alone / bare", targets.JUDGING_TO_BARE, median(judged) / bare
                ),
            ],
        )  # fmt: skip


def median_spans(results: list[Result]) -> dict[str, float]:
    """The median of each span, over the results that have it, in the order of the first result."""
    names = dict.fromkeys(name for result in results for name in result.timing.spans)
    return {
        name: median([r.timing.spans[name] for r in results if name in r.timing.spans])
        for name in names
    }
