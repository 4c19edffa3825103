"""Which processes and boxes belong to a service that a measurement started.

The service runs in a control group of its own, where this process may make one, and so does all
that it starts. Its boxes are in groups anyway: bubblewrap's below `judge/`, Docker's by the engine.
Both name their owner, a process of the service.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker

from sandbox import cgroups
from sandbox.cgroups import PARENT, ROOT, Version
from sandbox.docker_boxes import BOX_LABEL, OWNER_LABEL
from sandbox.owner import Owner

NS_PER_MS = 1_000_000
US_PER_MS = 1_000


class Uncountable(Exception):
    """What a service uses cannot be told; the message says why."""


@dataclass(frozen=True)
class Group:
    """A control group of ours."""

    version: Version
    folder: Path

    def add(self, pid: int) -> None:
        """Move a process in; what it starts from then on is inside, too."""
        (self.folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def members(self) -> set[int]:
        """The processes inside."""
        return {int(pid) for pid in (self.folder / "cgroup.procs").read_text().split()}

    def used_ms(self) -> float:
        """What everything that ever was inside has used."""
        if self.version is Version.V1:
            return int((self.folder / "cpuacct.usage").read_text()) / NS_PER_MS
        lines = (self.folder / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["usage_usec"]) / US_PER_MS


@contextmanager
def own_group() -> Iterator[Group | None]:
    """A new group, removed afterwards; None where this process may not make one."""
    version = cgroups.available()
    if version is None:
        yield None
        return
    parent = ROOT if version is Version.V2 else ROOT / "cpuacct"
    group = Group(version, parent / f"judge-bench-{secrets.token_hex(4)}")
    group.folder.mkdir()
    try:
        yield group
    finally:
        with suppress(OSError):  # a process that outlived the service keeps it
            group.folder.rmdir()


def bubblewrap_boxes(group: Group) -> Iterator[Group]:
    """The groups of the boxes that bubblewrap made for the service in `group`."""
    version, owners = group.version, group.members()
    parent = ROOT / PARENT if version is Version.V2 else ROOT / "cpuacct" / PARENT
    for folder in sorted(parent.iterdir()) if parent.is_dir() else []:
        owner = Owner.parse(folder.name.rpartition(".")[0])
        if owner and owner.pid in owners:
            yield Group(version, folder)


def containers(client: docker.DockerClient, group: Group) -> Iterator[str]:
    """The ids of the boxes that an engine made for the service in `group`."""
    owners = group.members()
    for container in client.api.containers(filters={"label": f"{BOX_LABEL}=1"}):
        owner = Owner.parse(container["Labels"].get(OWNER_LABEL, ""))
        if owner and owner.pid in owners:
            yield container["Id"]
