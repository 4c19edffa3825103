"""How the rate grows with the workers of one database.

Two workers can be twice as fast as one only where each has cores of its own, so that is measured
where there are enough. What they share, the queue and the database, shows when judging is replaced
by waiting: there each submission sleeps while it is imported, and then lacks what is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice

from pydantic import Field

from judge.bench import targets
from judge.bench.server import Place, Service
from judge.bench.submitting import closed_loop, students, submit
from judge.bench.work import Answer, Work
from judge.client import Client
from judge.results import Record

WAIT_S = 4.0  # so long that what has to be computed all the same hardly counts
WAITS = 4  # submissions per worker
COMPUTATIONS = 20
CORES = 4  # at least: for two workers, and for the service and its database


class Rate(Record):
    """What so many workers, of one slot each, judged."""

    workers: int
    submissions: int
    seconds: float
    per_s: float


class ScaleReport(Record):
    """The figures of `judge bench scale`."""

    waiting: list[Rate] = Field(description=f"of submissions that wait for {WAIT_S:g} s")
    computing: list[Rate] = Field(description="of submissions to the problem")
    computing_missing: str = Field(default="", description="why there is none of these")
    cores: int
    sandbox: str
    problem: str
    targets: list[targets.Target]


@dataclass
class Scale:
    """A measurement of workers that share one database."""

    work: Work
    place: Place
    cores: int

    def measure(self, workers: int, step: Callable[[], None]) -> ScaleReport:
        """Take the figures of one worker and of `workers`; `step` is called after each submission.

        Raises `WrongVerdict`, `ClientError` and `SandboxError`.
        """
        waits = self._waits()
        slug, missing = self.work.problem.slug, why_not_computing(self.cores)
        waiting: list[Rate] = []
        computing: list[Rate] = []
        with ExitStack() as stack:
            service = stack.enter_context(
                self.place.serving(with_worker=False, until_at_rest=False)
            )
            at_work, sandbox = 0, ""
            for count in sorted({1, workers} if missing else {1, 2, workers}):
                more = self.place.working(count - at_work, service, others=at_work)
                stack.enter_context(more)
                at_work = count
                if not sandbox:
                    sandbox = _sandbox(service, slug, waits)
                if count in (1, workers):
                    waiting.append(_rate(service, count, slug, [waits] * WAITS * count, step))
                if count in (1, 2) and not missing:
                    computing.append(_rate(service, count, slug, self._answers(count), step))
        many = waiting[-1].workers
        return ScaleReport(
            waiting=waiting,
            computing=computing,
            computing_missing=missing,
            cores=self.cores,
            sandbox=sandbox,
            problem=slug,
            targets=[
                targets.at_least(
                    f"{many} waiting workers / one", targets.WAITING_SHARE * many, _growth(waiting)
                ),
                targets.at_least(
                    "two computing workers / one", targets.COMPUTING_TWO, _growth(computing),
                    missing,
                ),
            ],
        )  # fmt: skip

    def _waits(self) -> Answer:
        problem = self.work.problem
        source = f"import time\n\ntime.sleep({WAIT_S})\n".encode()
        return Answer("waiting", {problem.main_file: source}, problem.tiers[0].id)

    def _answers(self, count: int) -> list[Answer]:
        return list(islice(cycle(self.work.answers()), COMPUTATIONS * count))


def _rate(
    service: Service, workers: int, slug: str, answers: list[Answer], step: Callable[[], None]
) -> Rate:
    with students(service.url, 2 * workers) as people:  # so that something waits for each worker
        # The first ones open the exercise in each worker.
        closed_loop(people, slug, [answers[0]] * len(people), lambda: None)
        started = time.perf_counter()
        done = len(closed_loop(people, slug, answers, step))
        seconds = time.perf_counter() - started
    return Rate(workers=workers, submissions=done, seconds=seconds, per_s=done / seconds)


def _sandbox(service: Service, slug: str, answer: Answer) -> str:
    """What submissions are judged in."""
    with Client(service.url) as client:
        return client.result(submit(client, slug, answer).id).environment.sandbox


def submissions(workers: int, cores: int) -> int:
    """How many are counted in all."""
    return WAITS * (1 + workers) + (0 if why_not_computing(cores) else COMPUTATIONS * (1 + 2))


def why_not_computing(cores: int) -> str:
    """Why two workers would be no faster than one on so many cores; empty where they are."""
    if cores >= CORES:
        return ""
    return f"two workers need cores of their own: {CORES} cores at least, there are {cores}"


def _growth(rates: list[Rate]) -> float | None:
    return rates[-1].per_s / rates[0].per_s if rates else None
