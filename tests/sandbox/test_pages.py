"""Memory that forks copy ahead of their work."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable

from sandbox.runner.pages import WrittenPages

PAGES = 512
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _faults_in_a_fork(before: Callable[[], object], work: Callable[[], None]) -> int:
    """How many pages the kernel had to fetch or copy for `work`."""
    read_end, write_end = os.pipe()
    if (pid := os.fork()) == 0:
        before()
        first = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        work()
        last = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        os.write(write_end, str(last - first).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as told:
        faults = int(told.read())
    os.waitpid(pid, 0)
    return faults


def test_what_was_copied_ahead_is_not_copied_during_the_work() -> None:
    memory = bytearray(PAGES * PAGE_BYTES)

    def work() -> None:
        for start in range(0, len(memory), 2 * PAGE_BYTES):  # every other page
            memory[start] = 1

    written = WrittenPages.by(work)
    assert written.ranges
    unprepared = _faults_in_a_fork(lambda: None, work)
    prepared = _faults_in_a_fork(written.copy, work)
    assert unprepared >= PAGES // 2
    assert prepared < PAGES // 16


def test_memory_that_is_new_in_the_work_does_not_keep_the_rest_from_being_copied() -> None:
    memory, kept = bytearray(PAGES * PAGE_BYTES), []

    def work() -> None:
        memory[0] = 1
        kept.append(bytearray(8 << 20))

    assert WrittenPages.by(work).copy()


def test_a_fork_that_fails_tells_nothing() -> None:
    def work() -> None:
        raise RuntimeError("it cannot be done")

    assert WrittenPages.by(work).ranges == ()
    assert not WrittenPages(()).copy()


def test_what_cannot_be_copied_is_said() -> None:
    assert not WrittenPages(((0, PAGE_BYTES),)).copy()
