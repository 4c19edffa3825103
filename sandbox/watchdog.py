"""A look from outside at the memory of a box, where no control group bounds it.

The first line there is RLIMIT_AS inside; this one catches what it cannot see, and ends a process
of the box that really uses more than the box may. It is a poll, so it is late by up to its period.
The first process of the box is ours and never ended: what it forks is what grows.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

PROC = Path("/proc")
PERIOD_S = 0.1
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Watchdog:
    """Watches the descendants of a process while it is `alive`, and its id no other's.

    `memory_bytes` may be changed at any time.
    """

    def __init__(self, pid: int, memory_bytes: int, alive: Callable[[], bool]) -> None:
        self.memory_bytes = memory_bytes
        self._pid = pid
        self._alive = alive
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="box-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD_S) and self._alive():
            for pid in descendants(self._pid):
                if resident_bytes(pid) > self.memory_bytes:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """Children of a process, their children and so on; empty when it is gone."""
    found = []
    tasks = PROC / str(pid) / "task"
    for thread in _names(tasks):
        with contextlib.suppress(OSError):
            for child in map(int, (tasks / thread / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def _names(folder: Path) -> list[str]:
    """What is in a folder; nothing when it is gone. A glob would raise where it goes meanwhile."""
    try:
        return os.listdir(folder)  # noqa: PTH208  # names are wanted, not paths
    except OSError:
        return []


def resident_bytes(pid: int) -> int:
    """Resident memory of a process, pages shared with others included; 0 when it is gone."""
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0
