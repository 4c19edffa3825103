"""Boxes made by a Docker engine.

Theory of operation
-------------------
A box is one container: no network, a read-only root, no capabilities, no way to gain any, an
unprivileged user, a system-call filter of our own, and bounds on processes, memory, CPU and every
writable mount. Nothing of the host is mounted. The one thing shared is a small named volume in
memory where boxes of one launcher meet over sockets.

Its three standard streams are attached before it starts, so nothing it says is lost, and are
drained for as long as it lives (`sandbox.channel`). Its end is the end of that stream. Its stdin
ends with the process that attached, so a box whose launcher was killed sees end-of-file and
exits; what remains of it is found by its labels and removed by any later launcher
(`sandbox.orphans`).

A container is created, attached, started and removed in separate steps, so that a failing start
leaves nothing behind either.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Self

import docker
from docker.errors import APIError
from docker.types import LogConfig, Mount, Ulimit

from sandbox import archive, engine
from sandbox.boxes import (
    SHARED_FOLDER,
    BoxEnvironment,
    BoxSpec,
    MemoryMode,
    Role,
    SandboxError,
    SharedDir,
)
from sandbox.channel import AttachPump, ConnectedBox
from sandbox.image import ImageRef
from sandbox.orphans import YOUNG_S, Leftover, Registry, own_home
from sandbox.owner import Owner
from sandbox.start import BOOT_COMMAND, ENVIRONMENT

ENGINE_SILENCE_S = 30  # for one request; a busy engine may need some seconds
GONE_S = 5.0
PARTING_S = 0.3
BOX_LABEL = "judge.box"
OWNER_LABEL = "judge.owner"
HOME_LABEL = "judge.home"
ROLE_LABEL = "judge.role"
NOBODY = 65534
USER = f"{NOBODY}:{NOBODY}"
TMP_INODES = 4096
SHM_BYTES = 4 << 20
SHARED_BYTES = 1 << 20
OPEN_FILES = 4096
ENGINE_DEFAULT = "engine-default"


@dataclass(frozen=True)
class DockerSettings:
    """How to reach the engine and what every box of it gets.

    `seccomp` is a profile as JSON text, or `ENGINE_DEFAULT`. `runtime` is an OCI runtime the
    engine knows, such as "runsc", or "" for its default. `apparmor` is a loaded profile, or "" for
    the engine's choice.
    """

    engine_url: str
    image: ImageRef
    seccomp: str
    runtime: str = ""
    apparmor: str = ""

    @property
    def local(self) -> bool:
        """Whether only this machine uses the engine."""
        return self.engine_url.startswith("unix:")


class DockerSharedDir:
    """A named volume in memory."""

    def __init__(
        self, client: docker.DockerClient, owner: Owner, labels: Mapping[str, str]
    ) -> None:
        self.name = f"judge-{owner.launcher}-{secrets.token_hex(4)}"
        self._client = client
        self._labels = dict(labels)
        self.make()

    def make(self) -> None:
        """Make the volume, unless it is there."""
        # Boxes may put a socket there and reach one they know by name, but not list the names.
        options = f"size={SHARED_BYTES},uid=0,gid=0,mode=1733,nosuid,nodev,noexec"
        with engine.errors("make a shared folder"):
            self._client.api.create_volume(
                self.name, driver="local",
                driver_opts={"type": "tmpfs", "device": "tmpfs", "o": options},
                labels=self._labels,
            )  # fmt: skip

    def remove(self) -> None:
        """Remove the volume; harmless when it is gone."""
        _remove_volume(self._client, self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class DockerBox(ConnectedBox):
    """One container; see `sandbox.boxes.Box`."""

    def __init__(
        self,
        client: docker.DockerClient,
        settings: DockerSettings,
        role: Role,
        box_id: str,
        container: str,
    ) -> None:
        self._client = client
        self._settings = settings
        self._role = role
        self._container = container
        self._killing = threading.Lock()
        self._killed = False
        self._pump = AttachPump(_attach(client, container))
        super().__init__(box_id, self._pump.socket, self._pump.tail)
        self._pump.start()

    @property
    def container(self) -> str:
        """The engine's id of the container."""
        return self._container

    @property
    def environment(self) -> BoxEnvironment:
        """Where the box runs."""
        return self._describe("docker", self._settings.image.digest, MemoryMode.CGROUP)

    def set_memory_limit(self, memory_bytes: int) -> None:
        """Change the limit of the living container. Memory in use above it is an error."""
        with engine.errors("set a memory limit"):
            self._client.api.update_container(
                self._container, mem_limit=memory_bytes, memswap_limit=memory_bytes
            )

    def alive(self) -> bool:
        """Whether the container still runs, as far as its stream tells."""
        return not (self._killed or self._lost or self._pump.ended)

    def kill(self) -> None:
        """Remove the container, whatever its state."""
        with self._killing:
            if self._killed:
                return
            self._killed = True
            if self._role is Role.RUNNER:
                self._let_go()
            # What an absent or failing engine does not remove, a later launcher's sweep will.
            with contextlib.suppress(SandboxError):
                _remove_container(self._client, self._container)
            self._pump.hang_up()
            self._pump.join(GONE_S)

    def _let_go(self) -> None:
        """A runner that is well removes its socket, and ends, when its channel does."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        self._pump.join(PARTING_S)


class DockerLauncher:
    """Makes boxes on one engine from one image."""

    name = "docker"

    def __init__(self, settings: DockerSettings) -> None:
        self._settings = settings
        self._owner = Owner.new()
        self._lock = threading.Lock()
        self._boxes: list[DockerBox] = []
        self._folders: list[DockerSharedDir] = []
        with engine.errors("say how many processors it has"):
            self._client = engine.connect(settings.engine_url, ENGINE_SILENCE_S)
            self._processors = int(self._client.info()["NCPU"])
            self._home = own_home(self._client)

    def shared_dir(self) -> DockerSharedDir:
        """A folder for boxes to meet in."""
        self._folders.append(DockerSharedDir(self._client, self._owner, self._labels()))
        return self._folders[-1]

    def launch(self, spec: BoxSpec, shared: SharedDir) -> DockerBox:
        """Start a box and send it its code; raises `SandboxError`. Does not wait for ready."""
        assert isinstance(shared, DockerSharedDir)
        code = archive.archive(spec.packages)
        box_id = f"{spec.role}-{secrets.token_hex(6)}"
        shared.make()  # while no box used it, it could be removed from outside
        with engine.errors(f"start a {spec.role} box"):
            container = self._create(box_id, spec, shared)
            try:
                box = DockerBox(self._client, self._settings, spec.role, box_id, container)
                self._client.api.start(container)
                box.send_code(code)
            except BaseException:
                with contextlib.suppress(SandboxError):  # the first failure is the one to tell
                    _remove_container(self._client, container)
                raise
        with self._lock:
            self._boxes = [b for b in self._boxes if b.alive()] + [box]
        return box

    def remove_orphans(self, young_s: float = YOUNG_S) -> int:
        """Remove the containers and volumes of launchers that are gone; how many there were.

        Nothing younger than `young_s` is taken for unused.
        """
        with engine.errors("look for orphans"):
            api = self._client.api
            ours = {"label": [f"{BOX_LABEL}=1"]}
            now = datetime.fromisoformat(self._client.info()["SystemTime"])
            registry = Registry(self._client, same_machine=self._settings.local, young_s=young_s)
            containers = [
                each["Id"] for each in api.containers(all=True, filters=ours)
                if registry.is_orphan(_left_container(each, now))
            ]  # fmt: skip
            volumes = [
                each["Name"] for each in api.volumes(ours)["Volumes"] or []
                if registry.is_orphan(_left_volume(each, now))
            ]  # fmt: skip
        for container in containers:
            _remove_container(self._client, container)
        for volume in volumes:
            _remove_volume(self._client, volume)
        return len(containers) + len(volumes)

    def close(self) -> None:
        """Kill what still lives and disconnect."""
        for box in self._boxes:
            box.kill()
        for folder in self._folders:
            folder.remove()
        self._client.close()

    def _labels(self) -> dict[str, str]:
        return {BOX_LABEL: "1", OWNER_LABEL: self._owner.label, HOME_LABEL: self._home}

    def _create(self, box_id: str, spec: BoxSpec, shared: DockerSharedDir) -> str:
        api = self._client.api
        memory = {"JUDGE_MEMORY_MODE": MemoryMode.CGROUP.value}
        created = api.create_container(
            self._settings.image.digest,
            ["python3", *BOOT_COMMAND, spec.entry, box_id],
            name=f"judge-{box_id}", hostname="box", user=USER, stdin_open=True, detach=False,
            environment=ENVIRONMENT | memory, working_dir="/tmp",  # noqa: S108  # the box's own
            labels=self._labels() | {ROLE_LABEL: spec.role},
            network_disabled=True, host_config=self._host_config(spec, shared),
        )  # fmt: skip
        return str(created["Id"])

    def _host_config(self, spec: BoxSpec, shared: DockerSharedDir) -> dict[str, object]:
        security = ["no-new-privileges:true"]
        if self._settings.seccomp != ENGINE_DEFAULT:
            security.append(f"seccomp={self._settings.seccomp}")
        if self._settings.apparmor:
            security.append(f"apparmor={self._settings.apparmor}")
        tmp = f"rw,nosuid,nodev,noexec,size={spec.tmp_bytes},mode=1777,nr_inodes={TMP_INODES}"
        # no_copy: otherwise the volume would take over the owner of the image's folder.
        meeting = Mount(SHARED_FOLDER, shared.name, type="volume", no_copy=True)
        return self._client.api.create_host_config(
            network_mode="none", read_only=True, cap_drop=["ALL"], security_opt=security,
            pids_limit=spec.pids, mem_limit=spec.memory_bytes, memswap_limit=spec.memory_bytes,
            nano_cpus=int(min(spec.cpus, self._processors) * 1e9),  # more is refused
            log_config=LogConfig(type="none"),
            tmpfs={"/tmp": tmp}, shm_size=SHM_BYTES, mounts=[meeting],  # noqa: S108
            ipc_mode="private", oom_kill_disable=False, init=False,
            ulimits=[Ulimit(name="core", soft=0, hard=0),
                     Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES)],
            runtime=self._settings.runtime or None,
        )  # fmt: skip


def _left_container(listed: Mapping[str, Any], now: datetime) -> Leftover:
    labels = listed["Labels"]
    age_s = now.timestamp() - listed["Created"]
    return Leftover(labels.get(OWNER_LABEL, ""), labels.get(HOME_LABEL, ""), listed["State"], age_s)


def _left_volume(listed: Mapping[str, Any], now: datetime) -> Leftover:
    labels = listed["Labels"]
    age = now - datetime.fromisoformat(listed["CreatedAt"])
    return Leftover(
        labels.get(OWNER_LABEL, ""), labels.get(HOME_LABEL, ""), "", age.total_seconds()
    )


def _attach(client: docker.DockerClient, container: str) -> socket.socket:
    """The container's three streams as one socket that belongs to us alone."""
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    stream = client.api.attach_socket(container, params=wanted)
    wrapped: socket.socket = stream._sock  # noqa: SLF001  # the SDK leaves it to the collector
    try:
        return socket.socket(fileno=os.dup(wrapped.fileno()))
    finally:
        stream.close()
        wrapped.close()


def _remove_container(client: docker.DockerClient, container: str) -> None:
    with engine.errors("remove a container"), _gone_is_fine():
        client.api.remove_container(container, force=True, v=True)


def _remove_volume(client: docker.DockerClient, name: str) -> None:
    with engine.errors("remove a volume"), _gone_is_fine():
        client.api.remove_volume(name)


@contextlib.contextmanager
def _gone_is_fine() -> Iterator[None]:
    """Nothing to remove, or being removed (or in use by what a later sweep removes): fine."""
    try:
        yield
    except APIError as error:
        if error.status_code not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            raise
