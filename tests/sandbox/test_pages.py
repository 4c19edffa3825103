"""Memory that forks copy ahead of their work."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
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


SIDE_BY_SIDE = """
import ctypes
from sandbox.runner.pages import fill_gaps

def pages():
    new = [bytearray(1000) for _ in range(4000)]
    return len({ctypes.addressof(ctypes.c_char.from_buffer(each)) // 4096 for each in new})

kept = [bytearray(1000) for _ in range(64_000)]
del kept[::16]  # so that there is a gap in every fourth page
print(pages(), fill_gaps(), fill_gaps(), pages())
"""


def test_what_is_new_lies_side_by_side_where_gaps_were_filled() -> None:
    # In a process of its own, whose heap has no other gaps, and since they are taken for good.
    said = subprocess.check_output([sys.executable, "-c", SIDE_BY_SIDE], text=True)
    between, taken_bytes, taken_again_bytes, behind = map(int, said.split())
    assert between > 3900
    assert behind < 1100
    assert taken_bytes > 4_000_000
    assert taken_again_bytes < taken_bytes / 10
