"""Samples, and what is said of many."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from judge.results import Record


class Round(Record):
    """One run of all checks. What fails raises, so `passed` are all of them."""

    wall_ms: float
    cpu_ms: float
    passed: int


def median(samples: Sequence[float]) -> float:
    """The middle sample, or the mean of the two in the middle."""
    ordered = sorted(samples)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def percentile(samples: Sequence[float], percent: float) -> float:
    """The smallest sample that at least `percent` of all do not exceed: always one of them."""
    ordered = sorted(samples)
    return ordered[max(ceil(len(ordered) * percent / 100), 1) - 1]


def p95(samples: Sequence[float]) -> float:
    """The 95th percentile."""
    return percentile(samples, 95)
