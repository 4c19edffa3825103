"""Processor time of a service and of everything that judges for it.

Theory of operation
-------------------
Sums over processes miss children that nobody waits for, and the grader has such. The kernel's
control groups miss nothing, so the service is started inside a group of its own, and its boxes are
in groups anyway (`judge.bench.groups`); those of containers are read by the engine. What the engine
itself spends on passing on what boxes say is counted too, as the processor time of the process
that answers its socket and of each container's shim.

A box that comes or goes in between would take its time along; then there is no figure but a reason.
"""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import docker

from judge.bench.groups import NS_PER_MS, Group, Uncountable, bubblewrap_boxes, containers
from sandbox import cgroups, engine
from sandbox.boxes import SandboxError

PROC = Path("/proc")
USER_TIME_FIELD = 11  # of /proc/<pid>/stat, counted after the command's closing parenthesis
PARENT_FIELD = 1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ENGINE_SILENCE_S = 30


@dataclass(frozen=True)
class Used:
    """Processor time so far, by what used it."""

    service_ms: float
    boxes_ms: dict[str, float]
    engine_ms: float

    def since(self, before: Used) -> float:
        """What was used in between, in all; raises `Uncountable` when boxes came or went."""
        if self.boxes_ms.keys() != before.boxes_ms.keys():
            raise Uncountable("a box was replaced in between")
        now, then = (
            each.service_ms + sum(each.boxes_ms.values()) + each.engine_ms
            for each in (self, before)
        )
        return now - then


def used(group: Group | None, engine_url: str) -> Used:
    """What the service in `group` and its boxes have used; raises `Uncountable`."""
    if group is None:
        raise Uncountable(f"the service is not in a group of its own: {cgroups.why_not()}")
    boxes = {box.folder.name: box.used_ms() for box in bubblewrap_boxes(group)}
    engine_ms = 0.0
    if not boxes:
        try:
            with engine.connected(engine_url, ENGINE_SILENCE_S) as client:
                found = list(containers(client, group))
                boxes = {each: _container_ms(client, each) for each in found}
                engine_ms = _engine_ms(client, engine_url, found)
        except SandboxError as error:
            raise Uncountable(error.problem) from None
    if not boxes:
        raise Uncountable("none of its boxes was found")
    return Used(group.used_ms(), boxes, engine_ms)


def _container_ms(client: docker.DockerClient, container: str) -> float:
    statistics = client.api.stats(container, stream=False, one_shot=True)
    return float(statistics["cpu_stats"]["cpu_usage"]["total_usage"]) / NS_PER_MS


def _engine_ms(client: docker.DockerClient, engine_url: str, boxes: list[str]) -> float:
    """Of the engine's own process, where it is on this machine, and of the shims."""
    first = [client.api.inspect_container(each)["State"]["Pid"] for each in boxes]
    shims = {int(_stat(pid)[PARENT_FIELD]) for pid in first}
    return sum(_process_ms(pid) for pid in shims | {_listener(engine_url)})


def _listener(engine_url: str) -> int:
    """The process that listens on the engine's socket."""
    parts = urlsplit(engine_url)
    if parts.scheme != "unix":
        raise Uncountable("the engine is on another machine")
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(parts.path)
        credentials = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def _process_ms(pid: int) -> float:
    ticks = sum(int(each) for each in _stat(pid)[USER_TIME_FIELD : USER_TIME_FIELD + 2])
    return ticks * 1000 / TICKS_PER_S


def _stat(pid: int) -> list[str]:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        raise Uncountable(f"process {pid} of the engine cannot be looked up") from None
