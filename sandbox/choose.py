"""Which launcher to use here, and in one line why.

`auto` takes Docker when an engine answers and an image is there or can be made, else bubblewrap,
which needs neither. Asking for one by name never gives the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox import cgroups, survey
from sandbox.boxes import Launcher, MemoryMode, SandboxError
from sandbox.bwrap_boxes import BwrapLauncher, BwrapSettings, find_binary
from sandbox.docker_boxes import DockerLauncher, DockerSettings
from sandbox.image import Base, ImageBuilder, Progress
from sandbox.syscall_policy import docker_profile

SandboxName = Literal["auto", "docker", "bwrap"]
DEFAULT_ENGINE = "unix:///var/run/docker.sock"


@dataclass(frozen=True)
class SandboxSettings:
    """Everything about the sandbox that an operator may set; who reads settings passes them in.

    `base` None takes what can be had. `runtime` is an OCI runtime known to the engine ("runsc").
    `hidden` are host folders that no bubblewrap box may see. `build` False never builds an image.
    """

    cache_dir: Path
    engine_url: str = DEFAULT_ENGINE
    base: Base | None = None
    runtime: str = ""
    bwrap: Path | None = None
    hidden: tuple[Path, ...] = ()
    pip_options: tuple[str, ...] = ()
    build: bool = True

    @property
    def builder(self) -> ImageBuilder:
        """The builder of images on this engine."""
        return ImageBuilder(self.engine_url, self.cache_dir, self.pip_options)


@dataclass(frozen=True)
class Choice:
    """A launcher, ready to launch, and one line for the operator about why it is this one."""

    launcher: Launcher
    why: str


def choose(name: SandboxName, settings: SandboxSettings, progress: Progress) -> Choice:
    """The launcher called `name`; raises `SandboxError` with what to do about it.

    May take minutes when an image has to be built; `progress` hears of it.
    """
    match name:
        case "docker":
            return _docker(settings, progress)
        case "bwrap":
            return _bwrap(settings, "as asked for")
    try:
        return _docker(settings, progress)
    except SandboxError as error:
        without_docker = error.problem
    try:
        return _bwrap(settings, without_docker)
    except SandboxError as error:
        raise SandboxError(
            f"no sandbox can be used: {without_docker}; {error.problem}", error.remedy
        ) from None


def _docker(settings: SandboxSettings, progress: Progress) -> Choice:
    survey.require_engine(settings.engine_url)
    builder = settings.builder
    image = builder.current(settings.base)
    if image is None:
        if not settings.build:
            raise SandboxError("the image is not built", "Run: judge sandbox build.")
        image = builder.build(settings.base, progress)
    launcher = DockerLauncher(
        DockerSettings(
            settings.engine_url, image, json.dumps(docker_profile()), settings.runtime,
            survey.loaded_apparmor_profile(),
        )
    )  # fmt: skip
    launcher.remove_orphans()
    return Choice(launcher, f"the engine at {settings.engine_url} answers, image {image.tag}")


def _bwrap(settings: SandboxSettings, reason: str) -> Choice:
    binary = find_binary(settings.bwrap)
    survey.require_bwrap(binary)
    launcher = BwrapLauncher(BwrapSettings(binary, settings.hidden))
    launcher.remove_orphans()
    limits = (
        "memory bounded by control groups" if launcher.memory_mode is MemoryMode.CGROUP
        else f"memory bounded by address space, since {cgroups.why_not()}"
    )  # fmt: skip
    return Choice(launcher, f"{reason}; {limits}")
