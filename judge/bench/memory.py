"""What one more slot costs in memory while nothing is judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from pydantic import Field

from judge.bench import targets
from judge.bench.footprint import Footprint, footprint
from judge.bench.server import Service
from judge.bench.submitting import submit
from judge.bench.work import Work
from judge.client import Client
from judge.results import Record

FEW, MANY = 1, 3
REST_S = 5.0
MIB_PER_SLOT = 220 * 1e6 / 2**20  # the target is in MB


class MemoryReport(Record):
    """The figures of `judge bench memory`, in MiB of proportional set size."""

    slots: tuple[int, int]
    few: Footprint
    many: Footprint
    mib_per_slot: float = Field(description="the difference, per slot more")
    targets: list[targets.Target]


def measure_memory(
    start: Callable[[int], AbstractContextManager[Service]],
    work: Work,
    engine_url: str,
    step: Callable[[], None],
) -> MemoryReport:
    """Start a service with few slots and one with many, and look at both after a submission.

    Raises `WrongVerdict`, `ClientError`, `SandboxError` and `Uncountable`.
    """
    seen: list[Footprint] = []
    for slots in (FEW, MANY):
        with start(slots) as service, Client(service.url) as client:
            submit(client, work.problem.slug, work.reference)
            time.sleep(REST_S)
            seen.append(footprint(service.group, engine_url))
            step()
    few, many = seen
    per_slot = (many.memory_mib - few.memory_mib) / (MANY - FEW)
    return MemoryReport(
        slots=(FEW, MANY),
        few=few,
        many=many,
        mib_per_slot=per_slot,
        targets=[targets.at_most("MiB per further slot", round(MIB_PER_SLOT, 1), per_slot)],
    )
