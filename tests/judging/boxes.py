"""The boxes of a judge, for tests that take them away."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judge.judging import Judge
from judge.slots import Pool, Slot
from sandbox.boxes import Box
from sandbox.bwrap_boxes import BwrapBox
from sandbox.docker_boxes import DockerBox
from sandbox.watchdog import descendants

SOON_S = 90.0  # boxes start slowly on a machine with much to do


def runner_box(judge: Judge, slot: int = 0) -> Box:
    box = judge._slots[slot]._box
    assert box is not None
    return box


def grader_box(judge: Judge) -> Box:
    assert judge._grader is not None
    return judge._grader._box


def reserve_box(judge: Judge) -> Box:
    """The warm one; while the keeper asks it whether it is there, nobody else has it."""
    reserve = judge._reserve
    assert reserve is not None
    deadline = time.monotonic() + SOON_S
    while (box := reserve._warm) is None:
        assert time.monotonic() < deadline, "the reserve is not warm"
        time.sleep(0.02)
    return box


@contextmanager
def with_only(judge: Judge, slot: Slot) -> Iterator[Judge]:
    """The judge with this slot alone, for the time being."""
    kept = judge._slots, judge._pool
    judge._slots, judge._pool = [slot], Pool([slot])
    try:
        yield judge
    finally:
        judge._slots, judge._pool = kept


def all_warm(judge: Judge) -> bool:
    states = judge.boxes()
    return states["warm"] == sum(states.values())


def wait_until(holds: Callable[[], bool], patience_s: float = SOON_S) -> float:
    """Seconds until it holds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + patience_s, "it did not come to pass"
        time.sleep(0.02)
    return time.monotonic() - began


def freeze(box: Box) -> None:
    """Stop everything in the box, as `docker pause` does. It still looks alive."""
    if isinstance(box, DockerBox):
        box._client.api.pause(box.container)
        return
    assert isinstance(box, BwrapBox)
    for pid in (box.pid, *descendants(box.pid)):
        with contextlib.suppress(ProcessLookupError):  # a child may end before its turn
            os.kill(pid, signal.SIGSTOP)
