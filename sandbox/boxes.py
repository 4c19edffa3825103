"""What a box is, whoever makes it: its description, its interface, its layout, and what fails.

    SandboxError        our side cannot do it; says what is wrong and what to do about it
    +-- EngineGone      the engine, or the box, was taken away from under us: try again

Connection failures of a living box are `sandbox.protocol.ChannelError`s, not `SandboxError`s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self, TypeVar, overload

from msgspec import Struct

from sandbox.protocol import BoxReady, Buffer

T = TypeVar("T")

# The same places in every box. `boot` cannot import these and has its own `SITE_PACKAGES`.
SHARED_FOLDER = "/run/judge"
SITE_PACKAGES = "/env/site-packages"


class SandboxError(Exception):
    """The sandbox cannot be used. `problem` says why, `remedy` what the operator can do."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(f"{problem}. {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy


class EngineGone(SandboxError):
    """The engine stopped answering, or a box disappeared while being prepared."""


class Role(StrEnum):
    """What a box is for. A runner holds untrusted code; a grader holds problems and oracle."""

    RUNNER = "runner"
    GRADER = "grader"


class Mode(StrEnum):
    """How submissions inside one box are kept apart.

    NESTED gives each its own namespaces inside the box. SINGLE gives each a box of its own,
    where nested namespaces are refused.
    """

    NESTED = "nested"
    SINGLE = "single"


class MemoryMode(StrEnum):
    """Who enforces the memory limit: the kernel's cgroup, or an address-space limit inside."""

    CGROUP = "cgroup"
    RLIMIT = "rlimit"


@dataclass(frozen=True)
class BoxSpec:
    """What to start and within which bounds.

    `entry` is a module with `main(box_id, control_in_fd, control_out_fd)`; `packages` are the
    names of the packages sent along so that it can be imported.
    """

    role: Role
    entry: str
    packages: tuple[str, ...]
    memory_bytes: int
    pids: int
    cpus: float
    tmp_bytes: int


@dataclass(frozen=True)
class BoxEnvironment:
    """Where a box's submissions run, for the record in a result."""

    sandbox: str  # "docker/nested", "docker/single", "bwrap/nested", ...
    image: str  # the image's digest, or "" where there is no image
    memory: MemoryMode


class SharedDir(Protocol):
    """A small folder where the sockets of one launcher's runners are.

    It is `SHARED_FOLDER` inside the boxes that connect to them.
    """

    def remove(self) -> None:
        """Give it back. Harmless when repeated; boxes using it must be dead."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...


class Box(Protocol):
    """One warm process under confinement, and the control channel to it.

    Made by a `Launcher`. One thread may send while one receives; `kill`, `alive` and
    `diagnostics` may be called from any.
    """

    @property
    def id(self) -> str:
        """Unique name; a runner's socket is `<id>.sock` in the shared folder."""

    def send(
        self, message: Struct, buffers: Sequence[Buffer] = (), deadline: float | None = None
    ) -> None:
        """Send one control frame; raises a `ChannelError`."""

    @overload
    def receive(self, kind: type[T], deadline: float | None = None) -> tuple[T, memoryview]: ...

    @overload
    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]: ...

    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]:
        """Receive one control frame; raises a `ChannelError`, at once when the box dies.

        `kind` is a message class or a union of them (which static typing sees as `Any`).
        """

    def wait_ready(self, deadline: float | None = None) -> BoxReady:
        """Receive the runner's first message and remember it; raises as `receive` does."""

    @property
    def ready(self) -> BoxReady | None:
        """What `wait_ready` received."""

    @property
    def environment(self) -> BoxEnvironment:
        """Where it runs. The mode is taken from `ready`, and is nested before that."""

    def set_memory_limit(self, memory_bytes: int) -> None:
        """Change the memory limit of the living box; raises `SandboxError`."""

    def alive(self) -> bool:
        """Whether the box still runs."""

    def diagnostics(self) -> str:
        """The last few kilobytes the box wrote to its stderr. Untrusted text."""

    def kill(self) -> None:
        """End the box and give everything back. Harmless when repeated."""


class Launcher(Protocol):
    """Makes boxes of one kind."""

    @property
    def name(self) -> str:
        """Either "docker" or "bwrap"."""

    def launch(self, spec: BoxSpec, shared: SharedDir) -> Box:
        """Start a box and send it its code; raises `SandboxError`. Does not wait for ready."""

    def shared_dir(self) -> SharedDir:
        """Make a folder for boxes to meet in; raises `SandboxError`."""

    def remove_orphans(self) -> int:
        """Remove what launchers of dead processes left on this host; returns how many."""

    def close(self) -> None:
        """Kill the boxes that still live and give everything back."""
