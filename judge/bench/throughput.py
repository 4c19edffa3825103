"""How many submissions a service judges per second under load, and what each costs.

Clients in a closed loop: each sends its next submission when it has the verdict of the last. Right
and wrong answers take turns, and each verdict is verified. Containers, one per submission and as
many at once as there are cores, run half before and half after.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice

from pydantic import Field

from judge.bench import targets
from judge.bench.baselines import Bare, DockerRun
from judge.bench.cpu import Used, used
from judge.bench.groups import Uncountable
from judge.bench.measuring import median, p95
from judge.bench.server import Service
from judge.bench.submitting import Submitted, closed_loop, students, submit
from judge.bench.work import Work
from judge.client import Client
from judge.results import Record

BARE_ROUNDS = 5  # before, and again after


class ThroughputReport(Record):
    """The figures of `judge bench throughput`."""

    submissions: int
    clients: int
    seconds: float
    per_s: float = Field(description="verdicts per second, all verified")
    judge_ms_p50: float = Field(description="from POST to the `finished` event, under this load")
    judge_ms_p95: float
    docker_run_per_s: float | None = Field(
        description="containers per second, one per submission; null where there is no engine"
    )
    ratio_to_docker_run: float | None
    cpu_ms_per_submission: float | None = Field(
        description="of the service, its database, the boxes and the engine, over submissions"
    )
    bare_cpu_ms: float = Field(description="of the bare checks of the right answer, median")
    ratio_cpu_to_bare: float | None
    cores: int
    sandbox: str
    problem: str
    docker_run_missing: str = Field(default="", description="why there is no docker_run_per_s")
    cpu_missing: str = Field(default="", description="why there is no cpu_ms_per_submission")
    targets: list[targets.Target]


@dataclass(frozen=True)
class Loaded:
    """What a closed loop came to. `cpu_ms` is the reason when it cannot be told."""

    submitted: list[Submitted]
    seconds: float
    cpu_ms: float | str


@dataclass
class Throughput:
    """A measurement of one service. `container` is the reason when there is no such baseline."""

    work: Work
    service: Service
    bare: Bare
    container: DockerRun | str
    engine_url: str

    def measure(self, submissions: int, clients: int, step: Callable[[], None]) -> ThroughputReport:
        """Take the figures; `step` is called after each submission.

        Raises `BaselineFailed`, `WrongVerdict`, `ClientError` and `SandboxError`.
        """
        with students(self.service.url, clients) as people:
            for person in people:
                submit(person, self.work.problem.slug, self.work.reference)
            bare_ms = self._bare_cpu_ms()
            containers_s = self._containers_s()
            loaded = self._load(people, submissions, step)
            containers_s += self._containers_s()
            bare_ms += self._bare_cpu_ms()
            sandbox = people[0].result(loaded.submitted[0].id).environment.sandbox
        return self._report(loaded, clients, median(bare_ms), containers_s, sandbox)

    def _load(self, people: Sequence[Client], submissions: int, step: Callable[[], None]) -> Loaded:
        answers = islice(cycle(self.work.answers()), submissions)
        before = self._used()
        started = time.perf_counter()
        done = closed_loop(people, self.work.problem.slug, answers, step)
        seconds = time.perf_counter() - started
        return Loaded(done, seconds, _between(before, self._used()))

    def _used(self) -> Used | str:
        try:
            return used(self.service.group, self.engine_url)
        except Uncountable as reason:
            return str(reason)

    def _bare_cpu_ms(self) -> list[float]:
        return [self.bare.round().cpu_ms for _ in range(BARE_ROUNDS)]

    def _containers_s(self) -> list[float]:
        """Seconds per container, as many at once as there are cores."""
        if isinstance(self.container, str):
            return []
        container, cores = self.container, os.cpu_count() or 1
        started = time.perf_counter()
        with ThreadPoolExecutor(cores) as threads:
            for waiting in [threads.submit(container.run_ms) for _ in range(cores)]:
                waiting.result()
        return [(time.perf_counter() - started) / cores]

    def _report(
        self, loaded: Loaded, clients: int, bare_ms: float, containers_s: list[float], sandbox: str
    ) -> ThroughputReport:
        count = len(loaded.submitted)
        per_s = count / loaded.seconds
        containers_per_s = len(containers_s) / sum(containers_s) if containers_s else None
        to_containers = per_s / containers_per_s if containers_per_s else None
        cpu_ms = loaded.cpu_ms / count if isinstance(loaded.cpu_ms, float) else None
        cpu_missing = loaded.cpu_ms if isinstance(loaded.cpu_ms, str) else ""
        container_missing = self.container if isinstance(self.container, str) else ""
        taken_ms = [each.finished_ms for each in loaded.submitted]
        return ThroughputReport(
            submissions=count,
            clients=clients,
            seconds=loaded.seconds,
            per_s=per_s,
            judge_ms_p50=median(taken_ms),
            judge_ms_p95=p95(taken_ms),
            docker_run_per_s=containers_per_s,
            ratio_to_docker_run=to_containers,
            cpu_ms_per_submission=cpu_ms,
            bare_cpu_ms=bare_ms,
            ratio_cpu_to_bare=targets.ratio(cpu_ms, bare_ms),
            cores=os.cpu_count() or 1,
            sandbox=sandbox,
            problem=self.work.problem.slug,
            docker_run_missing=container_missing,
            cpu_missing=cpu_missing,
            targets=[
                targets.at_least(
                    "rate / docker_run rate", targets.RATE_TO_CONTAINERS, to_containers,
                    container_missing,
                ),
                targets.at_most(
                    "CPU / bare CPU", targets.CPU_TO_BARE, targets.ratio(cpu_ms, bare_ms),
                    cpu_missing,
                ),
            ],
        )  # fmt: skip


def _between(before: Used | str, after: Used | str) -> float | str:
    if isinstance(before, str):
        return before
    if isinstance(after, str):
        return after
    try:
        return after.since(before)
    except Uncountable as reason:
        return str(reason)
