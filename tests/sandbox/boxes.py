"""Boxes for tests: launchers by name, and a box that executes what a test tells it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from judge.settings import Settings
from sandbox import cgroups
from sandbox.boxes import Box, BoxSpec, Launcher, Role, SandboxError, SharedDir
from sandbox.bwrap_boxes import NOBODY, BwrapLauncher, BwrapSettings, find_binary
from sandbox.docker_boxes import DockerLauncher, DockerSettings
from sandbox.image import ImageBuilder
from sandbox.survey import require_bwrap, require_engine
from sandbox.syscall_policy import docker_profile
from tests.sandbox.box_programs.messages import Do, Said

MIB = 1 << 20
MEMORY_BYTES = 256 * MIB
TMP_BYTES = 8 * MIB
PIDS = 32
PROGRAMS = "tests.sandbox.box_programs"
SPEC = BoxSpec(
    Role.RUNNER, f"{PROGRAMS}.obey", (PROGRAMS, "sandbox"), MEMORY_BYTES, PIDS, 1.0, TMP_BYTES
)


def builder() -> ImageBuilder:
    """The builder that the judge's settings name."""
    settings = Settings()
    return ImageBuilder(settings.docker_host, settings.cache)


def docker_launcher(seccomp: str | None = None, runtime: str = "") -> DockerLauncher:
    """Docker boxes from the current image; `SandboxError` where they cannot be had."""
    require_engine(builder().engine_url)
    image = builder().ensure(None, print)
    profile = json.dumps(docker_profile()) if seccomp is None else seccomp
    return DockerLauncher(DockerSettings(builder().engine_url, image, profile, runtime))


def bwrap_launcher(*, groups: bool, nested: bool = True) -> BwrapLauncher:
    """bubblewrap boxes with or without control groups; `SandboxError` where not to be had.

    With `nested` False the kernel refuses namespaces inside them.
    """
    binary = find_binary()
    require_bwrap(binary)
    if groups and cgroups.available() is None:
        raise SandboxError("control groups cannot be made here")
    return BwrapLauncher(BwrapSettings(binary, allow_groups=groups, allow_nested=nested))


@contextmanager
def as_nobody() -> Iterator[None]:
    """Do something as an ordinary user, which this process may be already."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


class Obedient:
    """A box, and what it answers."""

    def __init__(self, launcher: Launcher, shared: SharedDir, spec: BoxSpec = SPEC) -> None:
        self.box: Box = launcher.launch(spec, shared)

    def run(self, code: str, patience_s: float = 20.0) -> str:
        """Execute `code`; returns what it left in `answer`."""
        return self.exchange(code, b"", patience_s)[0]

    def exchange(self, code: str, payload: bytes, patience_s: float = 20.0) -> tuple[str, bytes]:
        """Also hand over `payload`, and return what was left in `back`."""
        deadline = time.monotonic() + patience_s
        self.box.send(Do(code), [payload], deadline)
        said, back = self.box.receive(Said, deadline)
        return said.text, bytes(back)
