"""Control groups for boxes that no engine makes: memory, processes and CPU, bounded by the kernel.

Theory of operation
-------------------
Root makes one group per box, in each hierarchy of version 1 or in the single one of version 2,
below `judge/`. The process that becomes the box enters before it executes anything of ours, so
whatever it starts is in there too. The group's files are shown read-only inside the box, where the
runner reads how often the kernel killed for memory and how much CPU went by.

The groups of a dead owner are empty folders with the owner's name in theirs; any later launcher
removes them. Who is not root, or finds the hierarchy read-only, gets None from `available` and
must do without.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sandbox.boxes import SandboxError
from sandbox.owner import Owner, OwnerState

ROOT = Path("/sys/fs/cgroup")
PARENT = "judge"
V1_CONTROLLERS = ("memory", "cpuacct", "cpu", "pids")
V1_SHOWN = ("memory", "cpuacct", "pids")
V2_CONTROLLERS = ("memory", "cpu", "pids")
PERIOD_US = 100_000
EMPTY_S = 2.0
POLL_S = 0.002


class Version(Enum):
    """Which kind of hierarchy is mounted."""

    V1 = 1
    V2 = 2


@dataclass(frozen=True)
class Group:
    """The group of one box: its folder in each hierarchy."""

    version: Version
    folders: dict[str, Path]  # by controller; version 2 has one, under ""

    @property
    def entrances(self) -> list[Path]:
        """Files to write a process id to, once each."""
        return sorted({folder / "cgroup.procs" for folder in self.folders.values()})

    @property
    def shown(self) -> list[tuple[Path, str]]:
        """What a box may read: (folder, where it belongs inside the box)."""
        if self.version is Version.V2:
            return [(self.folders[""], str(ROOT))]
        return [(self.folders[name], str(ROOT / name)) for name in V1_SHOWN]

    def set_memory_limit(self, memory_bytes: int) -> None:
        """Bound memory, swap included; raises `SandboxError` when more than that is in use."""
        try:
            if self.version is Version.V2:
                _write(self.folders[""] / "memory.max", memory_bytes)
            else:
                _set_v1_memory(self.folders["memory"], memory_bytes)
        except OSError as error:
            raise SandboxError(f"the memory limit cannot be set ({error.strerror})") from None

    def kill(self) -> None:
        """Kill every process inside and remove the group. Harmless when repeated."""
        deadline = time.monotonic() + EMPTY_S
        while (members := self._members()) and time.monotonic() < deadline:
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(POLL_S)
        for folder in set(self.folders.values()):
            _remove(folder)

    def _members(self) -> set[int]:
        members: set[int] = set()
        for entrance in self.entrances:
            with contextlib.suppress(OSError):
                members |= {int(line) for line in entrance.read_text().split()}
        return members - {0}


def available() -> Version | None:
    """The kind of group that this process can make, or None. Tries it."""
    version = mounted()
    if version is None or os.geteuid() != 0:
        return None
    try:
        for parent in _parents(version).values():
            parent.mkdir(exist_ok=True)
        if version is Version.V2:
            _enable_v2()
    except OSError:
        return None
    return version


def why_not() -> str:
    """What keeps this process from making groups, in words; after `available` gave None."""
    if os.geteuid() != 0:
        return "control groups need root"
    if mounted() is None:
        return f"no control groups are mounted at {ROOT}"
    return "the control groups here cannot be written to"


def mounted() -> Version | None:
    """The kind of hierarchy on this host."""
    if (ROOT / "cgroup.controllers").exists():
        return Version.V2
    if all((ROOT / name / "cgroup.procs").exists() for name in V1_CONTROLLERS):
        return Version.V1
    return None


def create(
    version: Version, owner: Owner, name: str, memory_bytes: int, pids: int, cpus: float
) -> Group:
    """Make a group with its bounds; raises `SandboxError`."""
    parents = _parents(version)
    group = Group(version, {k: v / f"{owner.label}.{name}" for k, v in parents.items()})
    quota_us = int(cpus * PERIOD_US)
    try:
        for folder in group.folders.values():
            folder.mkdir(exist_ok=True)
        if version is Version.V2:
            _set_v2(group.folders[""], pids, quota_us)
        else:
            _write(group.folders["pids"] / "pids.max", pids)
            _write(group.folders["cpu"] / "cpu.cfs_period_us", PERIOD_US)
            _write(group.folders["cpu"] / "cpu.cfs_quota_us", quota_us)
        group.set_memory_limit(memory_bytes)
    except (OSError, SandboxError) as error:
        group.kill()
        raise SandboxError(f"a control group cannot be made ({error})") from None
    return group


def remove_orphans() -> int:
    """Remove the groups of dead owners, with whatever still runs in them; returns how many."""
    version = mounted()
    if version is None or os.geteuid() != 0:
        return 0
    names: set[str] = set()
    for parent in _parents(version).values():
        names |= set(_orphans(parent))
    for name in names:
        Group(version, {k: v / name for k, v in _parents(version).items()}).kill()
    return len(names)


def _orphans(parent: Path) -> Iterator[str]:
    if not parent.is_dir():
        return
    for folder in parent.iterdir():
        owner = Owner.parse(folder.name.rpartition(".")[0])
        if folder.is_dir() and owner and owner.state(same_machine=True) is OwnerState.DEAD:
            yield folder.name


def _parents(version: Version) -> dict[str, Path]:
    if version is Version.V2:
        return {"": ROOT / PARENT}
    return {name: ROOT / name / PARENT for name in V1_CONTROLLERS}


def _enable_v2() -> None:
    wanted = " ".join(f"+{name}" for name in V2_CONTROLLERS)
    _write(ROOT / "cgroup.subtree_control", wanted)
    _write(ROOT / PARENT / "cgroup.subtree_control", wanted)


def _set_v2(folder: Path, pids: int, quota_us: int) -> None:
    _write(folder / "pids.max", pids)
    _write(folder / "cpu.max", f"{quota_us} {PERIOD_US}")
    if (folder / "memory.swap.max").exists():
        _write(folder / "memory.swap.max", 0)


def _set_v1_memory(folder: Path, memory_bytes: int) -> None:
    # Memory may never exceed memory plus swap, so raising starts with the sum, lowering ends there.
    names = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
    if int((folder / names[0]).read_text()) < memory_bytes:
        names.reverse()
    for name in names:
        if (folder / name).exists():  # the sum exists only with swap accounting
            _write(folder / name, memory_bytes)


def _write(path: Path, value: int | str) -> None:
    path.write_text(str(value))


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + EMPTY_S
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:  # busy for a moment after its last process
            if time.monotonic() > deadline:
                return
            time.sleep(POLL_S)
