"""How close comparisons come to their limits, for whoever proves that the limits are well chosen.

Comparisons note their margins only while somebody keeps them, in the same context: a proof, in the
process of the checks. While a submission is judged nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from judge.checks.plain import Numbers


@dataclass(frozen=True)
class Margin:
    """One comparison of numbers: what was compared, and its largest error as a share of the limit.

    At 1 and below it holds. Comparisons without tolerance have no margin.
    """

    what: str
    dtype: str
    share: float


_KEPT: ContextVar[list[Margin] | None] = ContextVar("margins", default=None)


@contextmanager
def margins_kept() -> Iterator[list[Margin]]:
    """The margins of all comparisons made meanwhile, in order."""
    kept: list[Margin] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def note_margin(what: str, dtype: str, error: Numbers, limit: Numbers) -> None:
    """Take down how much of `limit` the errors use, entry by entry, if anybody keeps margins."""
    kept = _KEPT.get()
    if kept is not None and np.any(limit > 0):
        shares = np.divide(error, limit, out=np.where(error > 0, np.inf, 0.0), where=limit > 0)
        kept.append(Margin(what, dtype, float(np.max(shares))))
