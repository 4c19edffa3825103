"""What a service holds after many submissions, beside what it held after the first of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice

from judge.bench import targets
from judge.bench.footprint import Footprint, footprint
from judge.bench.server import Service
from judge.bench.submitting import submit
from judge.bench.work import Work
from judge.client import Client
from judge.results import Record

REST_S = 5.0  # boxes are made ready again, connections are given back
FLAT_MEMORY = 1.05
FLAT_COUNT = 1.02


class SoakReport(Record):
    """The figures of `judge bench soak`."""

    submissions: int
    before: Footprint
    after: Footprint
    problem: str
    targets: list[targets.Target]


@dataclass
class Soak:
    """A measurement of one service."""

    work: Work
    service: Service
    client: Client
    engine_url: str

    def measure(self, submissions: int, step: Callable[[], None]) -> SoakReport:
        """Submit, right and wrong in turns; the first tenth comes before the first look.

        Raises `WrongVerdict`, `ClientError` and `Uncountable`.
        """
        answers = self.work.answers()
        before: Footprint | None = None
        for number, answer in enumerate(islice(cycle(answers), submissions)):
            if number == submissions // 10:
                before = self._at_rest()
            submit(self.client, self.work.problem.slug, answer)
            step()
        after = self._at_rest()
        return soak_report(submissions, before or after, after, self.work.problem.slug)

    def _at_rest(self) -> Footprint:
        time.sleep(REST_S)
        return footprint(self.service.group, self.engine_url)


def soak_report(submissions: int, before: Footprint, after: Footprint, problem: str) -> SoakReport:
    """The report of two looks."""
    bounds = {
        "memory_mib": FLAT_MEMORY,
        "descriptors": FLAT_COUNT,
        "processes": FLAT_COUNT,
        "boxes": 1.0,
        "tmpfs_mib": FLAT_MEMORY,
    }
    return SoakReport(
        submissions=submissions,
        before=before,
        after=after,
        problem=problem,
        targets=[
            targets.at_most(
                f"{name}, after / before", bound,
                targets.ratio(getattr(after, name), getattr(before, name)), "there was none before",
            )
            for name, bound in bounds.items()
        ],
    )  # fmt: skip
