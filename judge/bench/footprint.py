"""What a service and its boxes hold at one moment: memory, descriptors, processes, boxes.

Memory is the proportional set size: pages that processes share count once among them. What the
machine holds in memory-backed file systems is read for all of it, since boxes' own are nowhere
else to be seen.
"""

from __future__ import annotations

from pathlib import Path

import docker

from judge.bench.groups import Group, Uncountable, bubblewrap_boxes, containers
from judge.results import Record
from sandbox import cgroups, engine
from sandbox.boxes import SandboxError

PROC = Path("/proc")
ENGINE_SILENCE_S = 30
KIB_PER_MIB = 1024


class Footprint(Record):
    """What is held. `tmpfs_mib` is the whole machine's."""

    memory_mib: float
    descriptors: int
    processes: int
    boxes: int
    tmpfs_mib: float


def footprint(group: Group | None, engine_url: str) -> Footprint:
    """What the service in `group` and its boxes hold; raises `Uncountable`."""
    if group is None:
        raise Uncountable(f"the service is not in a group of its own: {cgroups.why_not()}")
    boxes = [box.members() for box in bubblewrap_boxes(group)] or _of_engine(group, engine_url)
    return held_by(group.members(), boxes)


def held_by(members: set[int], boxes: list[set[int]]) -> Footprint:
    """What these processes hold: the service's own, and those of each box."""
    processes = members.union(*boxes)
    return Footprint(
        memory_mib=sum(_memory_kib(pid) for pid in processes) / KIB_PER_MIB,
        descriptors=sum(_descriptors(pid) for pid in processes),
        processes=len(processes),
        boxes=len(boxes),
        tmpfs_mib=_field_kib(PROC / "meminfo", "Shmem") / KIB_PER_MIB,
    )


def _of_engine(group: Group, engine_url: str) -> list[set[int]]:
    """The processes of each container, by the numbers they have on this machine."""
    try:
        with engine.connected(engine_url, ENGINE_SILENCE_S) as client:
            return [_in_container(client, each) for each in containers(client, group)]
    except SandboxError as error:
        raise Uncountable(error.problem) from None


def _in_container(client: docker.DockerClient, container: str) -> set[int]:
    listed = client.api.top(container)
    column = listed["Titles"].index("PID")
    return {int(row[column]) for row in listed["Processes"]}


def _memory_kib(pid: int) -> int:
    """Of a process; 0 when it has ended meanwhile."""
    try:
        return _field_kib(PROC / str(pid) / "smaps_rollup", "Pss")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _descriptors(pid: int) -> int:
    try:
        return sum(1 for _ in (PROC / str(pid) / "fd").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _field_kib(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
