"""Makes a big process cheap to fork, and its forks quick.

A fork copies one entry for every page the parent has written, and the child's end frees them all:
some 6 ms each for the 200 MB of a warm torch in 4 kB pages. In pages of 2 MB there are 512 times
fewer entries, and both take less than 2 ms. A child that writes to one still copies only 4 kB.

That copy takes some 4 us, and in Python even looking at an object writes to it. So a fork pays for
thousands of pages while it works; or before, when nobody waits for it: `WrittenPages`. That they
are no more than they must be is the business of `heap`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Self

import msgspec
import numpy as np

from sandbox.runner import syscalls

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_HUGE_BYTES = 2 << 20
_PATIENCE_S = 30.0  # with a fork; its work was done in a fraction of that before
_MESSAGE_BYTES = 1 << 20
_ENTRY = np.dtype("<u8")  # of pagemap, one a page
_OWN = np.uint64(1 << 63 | 1 << 56)  # present, and shared with no other process
# Private and writable; and of those, of no file: the heap and what the allocator mapped.
_WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p ", re.MULTILINE)
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0\s*(?:\[heap\])?$", re.MULTILINE)


def collapse() -> int:
    """Move this process's own memory into huge pages; returns the bytes for which that worked.

    Takes as long as copying that memory. Kernels before 6.1 cannot, and nothing changes there.
    """
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    moved_bytes = 0
    for match in _MAPPING.finditer(maps):
        first = -(-int(match[1], 16) // _HUGE_BYTES) * _HUGE_BYTES
        last = int(match[2], 16) // _HUGE_BYTES * _HUGE_BYTES
        if first < last and syscalls.collapse_pages(first, last - first):
            moved_bytes += last - first
    return moved_bytes


@dataclass(frozen=True)
class WrittenPages:
    """The memory that forks of this process write to in their work, as (address, bytes)."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def by(cls, work: Callable[[], None]) -> Self:
        """Let one fork do the work, and look; nothing if that fails or the kernel does not tell."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            if (pid := os.fork()) == 0:
                _tell_own_pages(work, theirs)
            theirs.close()
            ours.settimeout(_PATIENCE_S)
            said = b""
            with contextlib.suppress(TimeoutError):
                said = ours.recv(_MESSAGE_BYTES)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # reaped already, where SIGCHLD is ignored
            os.waitpid(pid, 0)
        return cls(msgspec.msgpack.decode(said, type=tuple[tuple[int, int], ...]) if said else ())

    def copy(self) -> bool:
        """In a fork: copy them all now; False where that cannot be done."""
        return bool(self.ranges) and all(syscalls.copy_pages(*each) for each in self.ranges)


def _tell_own_pages(work: Callable[[], None], link: socket.socket) -> None:
    """The fork that does the work. Never returns."""
    try:
        # What is mapped only during the work will not be there in another fork.
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
        work()
        with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
            ranges = list(_own_pages(pagemap, mapped))
        link.send(msgspec.msgpack.encode(ranges))
    finally:
        os._exit(0)


def _own_pages(pagemap: FileIO, mapped: str) -> Iterator[tuple[int, int]]:
    """Ranges of `mapped` that it shares with no other process: since its fork it wrote to them."""
    for match in _WRITABLE.finditer(mapped):
        first, last = int(match[1], 16), int(match[2], 16)
        pagemap.seek(first // _PAGE_BYTES * _ENTRY.itemsize)
        entries = pagemap.read((last - first) // _PAGE_BYTES * _ENTRY.itemsize)
        own = (np.frombuffer(entries, _ENTRY) & _OWN) == _OWN
        edges = np.flatnonzero(np.diff(own, prepend=False, append=False))
        for start, end in edges.reshape(-1, 2).tolist():
            yield first + start * _PAGE_BYTES, (end - start) * _PAGE_BYTES
