"""What the figures are meant to reach, each as a ratio inside one run."""

from __future__ import annotations

from judge.results import Record

DOCKER_RUN_TO_JUDGE = 25.0
P95_TO_MEDIAN = 2.0
DOCKER_RUN_TO_FIRST_TIER = 50.0
JUDGING_TO_BARE = 5.0
RATE_TO_CONTAINERS = 20.0
CPU_TO_BARE = 5.0


class Target(Record):
    """One target. `met` is null where it could not be measured, and `missing` then says why."""

    name: str
    bound: str
    ratio: float | None
    met: bool | None
    missing: str = ""


def at_most(name: str, bound: float, ratio: float | None, missing: str = "") -> Target:
    """A ratio that is to be small."""
    met = None if ratio is None else ratio <= bound
    return Target(name=name, bound=f"≤ {bound:g}", ratio=ratio, met=met, missing=missing)


def at_least(name: str, bound: float, ratio: float | None, missing: str = "") -> Target:
    """A ratio that is to be large."""
    met = None if ratio is None else ratio >= bound
    return Target(name=name, bound=f"≥ {bound:g}", ratio=ratio, met=met, missing=missing)


def ratio(over: float | None, under: float) -> float | None:
    """A quotient, as far as it can be told."""
    return None if over is None or not under else over / under
