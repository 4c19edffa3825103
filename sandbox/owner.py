"""Who made a box, written so that a later process can tell whether its maker is still there.

A process id alone is reused, so the start time goes with it; the boot id tells machines and
reboots apart, and the pid namespace tells containers on one machine apart. Only when boot and
namespace are our own can we look the process up. What was found on this machine's own storage and
has another boot id is from before the last boot, so its maker is dead; about other namespaces and
other machines we know nothing, and say so. An engine may know more: the container a process runs in
can be looked up there, if that is one of its own.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Self

PROC = Path("/proc")
CONTAINER_FILE = re.compile(r"/containers/([0-9a-f]{64})/hostname /etc/hostname ")
START_TIME_FIELD = 19  # of /proc/<pid>/stat, counted after the command's closing parenthesis


class OwnerState(Enum):
    """What can be said about an owner from here."""

    ALIVE = auto()
    DEAD = auto()
    ELSEWHERE = auto()


@dataclass(frozen=True)
class Owner:
    """A launcher in a process: where it runs, which process, and which of its launchers."""

    boot: str
    namespace: str
    pid: int
    started: int  # clock ticks after boot
    launcher: str

    @classmethod
    def new(cls) -> Self:
        """An owner for a new launcher of this process."""
        pid = os.getpid()
        return cls(_boot(), _namespace(), pid, _started(pid), secrets.token_hex(4))

    @classmethod
    def parse(cls, label: str) -> Self | None:
        """The inverse of `label`; None for text that is not an owner."""
        match label.split("."):
            case [boot, namespace, pid, started, launcher] if pid.isdigit() and started.isdigit():
                return cls(boot, namespace, int(pid), int(started), launcher)
        return None

    @property
    def label(self) -> str:
        """One word, also fit for a file name."""
        return f"{self.boot}.{self.namespace}.{self.pid}.{self.started}.{self.launcher}"

    def state(self, *, same_machine: bool) -> OwnerState:
        """Whether the owning process still runs.

        `same_machine` says that this label can only have been written on this machine.
        """
        if self.boot != _boot():
            return OwnerState.DEAD if same_machine else OwnerState.ELSEWHERE
        if self.namespace != _namespace():
            return OwnerState.ELSEWHERE
        return OwnerState.ALIVE if _started(self.pid) == self.started else OwnerState.DEAD


def own_container() -> str:
    """The id of the Docker container this process runs in, "" where it runs in none.

    Read from the mount of its /etc/hostname, which an engine makes from a file of the container.
    """
    found = CONTAINER_FILE.search((PROC / "self/mountinfo").read_text())
    return found[1] if found else ""


def _boot() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def _namespace() -> str:
    return str((PROC / "self/ns/pid").readlink()).strip("pid:[]")


def _started(pid: int) -> int:
    """Start time of a process, 0 when there is none. A zombie no longer owns anything."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 0 if fields[0] in ("Z", "X") else int(fields[START_TIME_FIELD])
