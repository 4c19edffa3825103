"""Interrupting trusted code that takes too long: a check, a pitfall's source."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfPatience(BaseException):
    """The code did not end in the time it had. A `BaseException`, so that nothing swallows it."""


@contextmanager
def interrupted_after(
    patience_s: float, what: str, excused: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Raise `OutOfPatience` in the code inside when it takes longer.

    While `excused` is true (the code waits for somebody who has a deadline) it gets the time anew.
    Uses SIGALRM, hence only in the main thread and not nested.
    """

    def on_alarm(_number: int, _frame: FrameType | None) -> None:
        if excused():
            signal.setitimer(signal.ITIMER_REAL, patience_s)
        else:
            raise OutOfPatience(f"{what} did not end within {patience_s:g} s")

    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, patience_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
