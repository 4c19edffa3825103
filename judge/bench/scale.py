"""How the rate grows with the workers of one database.

Two workers can be twice as fast as one only where each has cores of its own, so that is measured
where there are enough. What they share, the queue and the database, shows when judging is replaced
by waiting: there each submission sleeps, and many workers fit on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from pydantic import Field

from judge.bench import targets
from judge.bench.server import Place, Service
from judge.bench.submitting import closed_loop, students, submit
from judge.bench.work import Answer, Work
from judge.client import Client
from judge.results import Record

WAIT_S = 2.0
WAITS = 5  # submissions per worker
COMPUTATIONS = 20
CORES = 4  # at least: for two workers, and for the service and its database
SLUG = "waiting"
_FILES = {
    "problem.toml": f'''\
id = "{SLUG}"
title = "Waiting"
track = "papers"
number = 1
summary = "Take a while."
entry_points = ["wait"]
sources = ["none: it measures the judge"]

[limits]
wall_s = {5 * WAIT_S}
cpu_s = {5 * WAIT_S}
memory_bytes = 536_870_912
output_bytes = 65_536
source_bytes = 65_536

[[tiers]]
id = "T0"
title = "Interface"
about = "It can be called."
checks = "checks/test_t0_interface.py"
visible = true

[[files]]
name = "solution.py"
role = "solution"
starter = "starter.py"
''',
    "statement.md": "# Waiting\n\n`wait()` takes a while.\n",
    "contract.pyi": "def wait(): ...\n",
    "starter.py": "def wait():\n    ...\n",
    "reference.py": f"import time\n\n\ndef wait():\n    time.sleep({WAIT_S})\n",
    "mutants.toml": "mutants = []\n",
    "checks/test_t0_interface.py": '''\
from judge.checks import check


@check(kind="interface", why="Somebody waits for it.")
def test_it_returns(submission):
    """It returns."""
    submission.wait()
''',
}


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
        waits = Answer("waiting", {"solution.py": _FILES["reference.py"].encode()}, None)
        missing = why_not_computing(self.cores)
        waiting: list[Rate] = []
        computing: list[Rate] = []
        with ExitStack() as stack:
            service = stack.enter_context(self.place.serving(with_worker=False))
            at_work, sandbox = 0, ""
            for count in sorted({1, workers} if missing else {1, 2, workers}):
                more = self.place.working(count - at_work, service, others=at_work)
                stack.enter_context(more)
                at_work = count
                if not sandbox:
                    sandbox = _sandbox(service, waits)
                if count in (1, workers):
                    waiting.append(_rate(service, count, SLUG, [waits] * WAITS * count, step))
                if count in (1, 2) and not missing:
                    slug, answers = self.work.problem.slug, self._answers(count)
                    computing.append(_rate(service, count, slug, answers, step))
        many = waiting[-1].workers
        return ScaleReport(
            waiting=waiting,
            computing=computing,
            computing_missing=missing,
            cores=self.cores,
            sandbox=sandbox,
            problem=self.work.problem.slug,
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


def _sandbox(service: Service, answer: Answer) -> str:
    """What submissions are judged in."""
    with Client(service.url) as client:
        return client.result(submit(client, SLUG, answer).id).environment.sandbox


def submissions(workers: int, cores: int) -> int:
    """How many are counted in all."""
    return WAITS * (1 + workers) + (0 if why_not_computing(cores) else COMPUTATIONS * (1 + 2))


def why_not_computing(cores: int) -> str:
    """Why two workers would be no faster than one on so many cores; empty where they are."""
    if cores >= CORES:
        return ""
    return f"two workers need cores of their own: {CORES} cores at least, there are {cores}"


def write_waiting(problems: Path) -> None:
    """Put the exercise whose solution waits into a folder of problems."""
    for name, text in _FILES.items():
        path = problems / SLUG / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _growth(rates: list[Rate]) -> float | None:
    return rates[-1].per_s / rates[0].per_s if rates else None
