"""What the figures are meant to reach: ratios inside one run, and seconds where somebody waits."""

from __future__ import annotations

from judge.results import Record

DOCKER_RUN_TO_JUDGE = 25.0
P95_TO_MEDIAN = 2.0
DOCKER_RUN_TO_FIRST_TIER = 50.0
JUDGING_TO_BARE = 5.0
RATE_TO_CONTAINERS = 20.0
CPU_TO_BARE = 5.0
START_S = 10.0
WAITING_SHARE = 7 / 8  # of as many times the rate of one as there are workers
COMPUTING_TWO = 1.8


class Target(Record):
    """One target. `met` is null where it could not be measured, and `missing` then says why."""

    name: str
    bound: str
    figure: float | None
    met: bool | None
    missing: str = ""


def at_most(name: str, bound: float, figure: float | None, missing: str = "") -> Target:
    """A figure that is to be small."""
    met = None if figure is None else figure <= bound
    return Target(name=name, bound=f"≤ {bound:g}", figure=figure, met=met, missing=missing)


def at_least(name: str, bound: float, figure: float | None, missing: str = "") -> Target:
    """A figure that is to be large."""
    met = None if figure is None else figure >= bound
    return Target(name=name, bound=f"≥ {bound:g}", figure=figure, met=met, missing=missing)


def ratio(over: float | None, under: float) -> float | None:
    """A quotient, as far as it can be told."""
    return None if over is None or not under else over / under
