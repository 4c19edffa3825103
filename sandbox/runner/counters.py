"""What the kernel counts about this box, as far as it is visible from inside.

Docker mounts the container's own control group read-only at /sys/fs/cgroup, under the memory
controller's name in version 1; a bubblewrap launcher that makes a group does the same. Without a
group there is nothing to read, and nothing that would kill for memory either.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_EVENTS = (_CGROUP / "memory.events", _CGROUP / "memory" / "memory.oom_control")
_LIMITS = (_CGROUP / "memory.max", _CGROUP / "memory" / "memory.limit_in_bytes")
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_STATUS_BYTES = 1 << 14  # more than it ever has


@dataclass(frozen=True)
class Memory:
    """Bytes of memory that a process holds in pages.

    `peak` is the most that it ever held. `own` are the pages of no file on a disk, which is where
    arrays are, also those that were swapped out. `shared` of them could be those of a file in
    memory.
    """

    resident: int
    peak: int
    own: int
    shared: int


def memory_in(status_fd: int) -> Memory:
    """What an open ``/proc/<pid>/status`` says now; all zero once its first thread has ended."""
    sizes: dict[bytes, int] = {}
    for line in os.pread(status_fd, _STATUS_BYTES, 0).splitlines():
        key, _, value = line.partition(b":")
        if key.startswith((b"Vm", b"Rss")):
            sizes[key] = int(value.split()[0]) << 10
    resident = sizes.get(b"VmRSS", 0)
    shared = sizes.get(b"RssShmem", 0)
    own = sizes.get(b"RssAnon", 0) + sizes.get(b"VmSwap", 0) + shared
    return Memory(resident, max(sizes.get(b"VmHWM", 0), resident), own, shared)


def bytes_in(folders: Iterable[str]) -> int:
    """What the file systems that are mounted at `folders` hold."""
    mounted = map(os.statvfs, folders)
    return sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in mounted)


def lower_own_mark() -> bool:
    """Let this process's `Memory.peak` begin anew; False where the kernel does not allow it."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def oom_kills() -> int | None:
    """How often the kernel killed a process of this box for memory; None when it cannot be read."""
    for path in _EVENTS:
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
    return None


def memory_limit() -> int | None:
    """The memory limit of this box in bytes; None when there is none, or it cannot be read."""
    for path in _LIMITS:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else None
    return None


def own_memory_bytes() -> tuple[int, int]:
    """This process's (address space, resident memory)."""
    sizes = {}
    for line in _STATUS.read_text().splitlines():
        key, _, value = line.partition(":")
        if key in ("VmSize", "VmRSS"):
            sizes[key] = int(value.split()[0]) << 10
    return sizes["VmSize"], sizes["VmRSS"]
