"""The image every Docker box is made from: built here, found again by its tag.

Theory of operation
-------------------
The image holds Python 3.11 and wheels, and none of our code. Its tag is a hash of everything that
decides its content: the base, the Dockerfile and the requirements. So `current` answers "is there
an image for this version of the judge" with one look-up, and a changed requirement is a new image.

A build needs no network inside. The host's pip fetches the wheels, with whatever index, proxy or
constraints its user configured, into a folder that is kept; the build installs them offline.
The base is the official `python:3.11-slim-bookworm`, or, where no registry can be reached, a
Debian of the same release made with debootstrap and imported.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

import docker
from docker.errors import APIError, ImageNotFound

from sandbox import engine
from sandbox.boxes import SandboxError
from sandbox.syscall_policy import ARCHITECTURE

PYTHON_VERSION = "3.11"
DEBIAN_RELEASE = "bookworm"
NEWEST_GLIBC_MINOR = 36  # of the release above; older wheels run on it, newer ones do not
OLDEST_GLIBC_MINOR = 17
REQUIREMENTS = (
    "torch==2.13.0",
    "numpy~=2.4",
    "msgspec~=0.23.0",
    "pytest~=9.2",
    "pydantic~=2.14",
)
REPOSITORY = "judge-box"
DEBIAN_BASE = f"judge-base:{DEBIAN_RELEASE}"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
DOCKERFILE = Path(__file__).with_name("image") / "Dockerfile"
PULL_SILENCE_S = 30  # a registry that says nothing for so long is not there
BUILD_SILENCE_S = 900
DOWNLOAD_S = 3600

Progress = Callable[[str], None]


class Base(StrEnum):
    """What an image can be built on."""

    PYTHON = "python:3.11-slim-bookworm"
    DEBIAN = "debian"


@dataclass(frozen=True)
class ImageRef:
    """An image that is there: its tag, and its digest (`sha256:...`), which never changes."""

    tag: str
    digest: str
    base: Base


@dataclass(frozen=True)
class ImageBuilder:
    """Builds and finds images on one engine.

    `cache_dir` keeps wheels between builds. `pip_options` are added to `pip download`, for a
    machine whose index is not pip's configured one.
    """

    engine_url: str
    cache_dir: Path
    pip_options: tuple[str, ...] = ()

    def current(self, base: Base | None = None) -> ImageRef | None:
        """The image for this version on `base` (any base when None), or None if not built.

        Raises `EngineGone` when the engine does not answer.
        """
        with engine.connected(self.engine_url, PULL_SILENCE_S) as client:
            for candidate in [base] if base else list(Base):
                found = _look_up(client, candidate)
                if found:
                    return found
        return None

    def ensure(self, base: Base | None, progress: Progress) -> ImageRef:
        """The current image, built first if need be. Raises `SandboxError`."""
        found = self.current(base)
        return found or self.build(base, progress)

    def build(self, base: Base | None, progress: Progress) -> ImageRef:
        """Build the image on `base`; None takes the first base that can be had here.

        Raises `SandboxError` with what to do. Builds of other processes are waited for.
        """
        with (
            _locked(self.cache_dir),
            engine.connected(self.engine_url, BUILD_SILENCE_S) as client,
        ):
            chosen = self._provide_base(client, base, progress)
            wheels = self._fetch_wheels(progress)
            progress(f"building {tag_for(chosen)}")
            return _build(client, chosen, wheels, progress)

    def _provide_base(
        self, client: docker.DockerClient, base: Base | None, progress: Progress
    ) -> Base:
        if base is Base.DEBIAN:
            _make_debian_base(client, progress)
            return base
        try:
            _pull_base(client, self.engine_url, progress)
        except SandboxError as error:
            if base is Base.PYTHON:
                raise
            progress(f"{error.problem}; making a Debian base instead")
            _make_debian_base(client, progress)
            return Base.DEBIAN
        return Base.PYTHON

    def _fetch_wheels(self, progress: Progress) -> Path:
        key = _digest(*REQUIREMENTS, ARCHITECTURE, *self.pip_options)
        folder = self.cache_dir / "wheels" / key
        if folder.is_dir():
            return folder
        with (
            _cache_errors(self.cache_dir),
            tempfile.TemporaryDirectory(dir=_made(folder.parent), prefix="part-") as part,
        ):
            _download(Path(part), self.pip_options, progress)
            Path(part).rename(folder)
            Path(part).mkdir()  # for the context manager to remove
        return folder


def tag_for(base: Base) -> str:
    """The tag of the image for this version of the judge on `base`."""
    name = "debian" if base is Base.DEBIAN else "python"
    key = _digest(base.value, DOCKERFILE.read_text(), *REQUIREMENTS, PYTHON_VERSION)
    return f"{REPOSITORY}:{name}-{key}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


@contextmanager
def _locked(cache_dir: Path) -> Iterator[None]:
    with _cache_errors(cache_dir):
        file = (_made(cache_dir) / "build.lock").open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _cache_errors(cache_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SandboxError(
            f"the cache folder {cache_dir} cannot be used ({error.strerror or error})",
            "Set JUDGE_CACHE to a folder that can be written to.",
        ) from None


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _look_up(client: docker.DockerClient, base: Base) -> ImageRef | None:
    tag = tag_for(base)
    try:
        return ImageRef(tag, str(client.images.get(tag).id), base)
    except ImageNotFound:
        return None


def _has(client: docker.DockerClient, name: str) -> bool:
    try:
        client.images.get(name)
    except ImageNotFound:
        return False
    return True


# --- bases --------------------------------------------------------------------------------------


def _pull_base(client: docker.DockerClient, url: str, progress: Progress) -> None:
    name = Base.PYTHON.value
    if _has(client, name):
        return
    progress(f"pulling {name}")
    repository, tag = name.split(":")
    try:
        with engine.connected(url, PULL_SILENCE_S) as puller:
            puller.images.pull(repository, tag=tag)
    except SandboxError as error:
        raise SandboxError(
            f"{name} cannot be pulled: {error.problem}",
            "Check the network, or build without a registry: judge sandbox build --base debian.",
        ) from None


def _make_debian_base(client: docker.DockerClient, progress: Progress) -> None:
    if _has(client, DEBIAN_BASE):
        return
    _require_debootstrap()
    progress(f"making a Debian {DEBIAN_RELEASE} base with debootstrap (about a minute)")
    with tempfile.TemporaryDirectory(prefix="judge-debootstrap-") as folder:
        root = Path(folder) / "root"
        _run_debootstrap(root)
        _import_base(client, root)


def _require_debootstrap() -> None:
    if os.geteuid() != 0:
        raise SandboxError(
            "a Debian base can only be made by root",
            "Run this once: sudo judge sandbox build --base debian.",
        )
    if shutil.which("debootstrap") is None:
        raise SandboxError(
            "debootstrap is not installed",
            "Install it (Debian, Ubuntu: apt-get install debootstrap) and run "
            "judge sandbox build --base debian again.",
        )


def _run_debootstrap(root: Path) -> None:
    # The keyring check stays on; python3 brings the interpreter and its full standard library.
    command = ["debootstrap", "--variant=minbase", "--include=python3", DEBIAN_RELEASE, str(root)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = " | ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
        raise SandboxError(
            f"debootstrap failed ({tail})", "Check that a Debian mirror can be reached."
        )


def _import_base(client: docker.DockerClient, root: Path) -> None:
    # debootstrap copies this machine's name and resolver; boxes shall know neither.
    left_out = ["./dev/*", "./proc/*", "./sys/*", "./etc/hostname", "./etc/resolv.conf"]
    left_out += ["./var/cache/apt/*", "./var/lib/apt/lists/*"]
    command = ["tar", "-C", str(root), "--numeric-owner", "--one-file-system"]
    command += [f"--exclude={pattern}" for pattern in left_out] + ["-cf", "-", "."]
    repository, tag = DEBIAN_BASE.split(":")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as archive:
        assert archive.stdout is not None
        client.api.import_image_from_stream(archive.stdout, repository=repository, tag=tag)
    if archive.returncode != 0:
        client.images.remove(DEBIAN_BASE)
        raise SandboxError("the Debian base could not be packed (tar failed)")


# --- wheels -------------------------------------------------------------------------------------


def _download(
    folder: Path, options: tuple[str, ...], progress: Progress, patience_s: int = DOWNLOAD_S
) -> None:
    progress(f"fetching wheels with pip: {', '.join(REQUIREMENTS)}")
    command = [*_pip(), "download", "--quiet", "--dest", str(folder), *_targets()]
    try:
        done = subprocess.run(
            [*command, *options, *REQUIREMENTS, "pip"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SandboxError(
            f"pip had not fetched the wheels after {patience_s // 60} minutes",
            "Check the network and pip's configuration (pip config list).",
        ) from None
    if done.returncode != 0:
        tail = " | ".join(done.stderr.strip().splitlines()[-3:])
        raise SandboxError(
            f"pip could not fetch the wheels ({tail})",
            "Check the network and pip's configuration (pip config list).",
        )
    if any(folder.glob("nvidia_*.whl")):
        progress(f"these are CUDA wheels, several GB; {CPU_INDEX} as pip's index has smaller ones")


def _pip() -> list[str]:
    """A command that runs pip: this interpreter's, else one on the PATH."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], capture_output=True, check=False).returncode == 0:
        return own
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found:
            return [found]
    raise SandboxError(
        "there is no pip to fetch the wheels with",
        f"Add it to this Python ({sys.executable} -m ensurepip) or install python3-pip.",
    )


def _targets() -> list[str]:
    """The image's Python, not the host's: pip takes wheels for it wherever it runs."""
    options = ["--only-binary=:all:", "--implementation", "cp", "--python-version", PYTHON_VERSION]
    abi = "cp" + PYTHON_VERSION.replace(".", "")
    for name in (abi, "abi3", "none"):
        options += ["--abi", name]
    for minor in range(NEWEST_GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1):
        options += ["--platform", f"manylinux_2_{minor}_{ARCHITECTURE}"]
    return [*options, "--platform", f"manylinux2014_{ARCHITECTURE}"]


# --- the build ----------------------------------------------------------------------------------


def _build(client: docker.DockerClient, base: Base, wheels: Path, progress: Progress) -> ImageRef:
    tag = tag_for(base)
    labels = {"judge.image": "1", "judge.wheels": " ".join(sorted(_wheel_versions(wheels)))}
    with tempfile.TemporaryFile() as context:
        _write_context(context, wheels)
        context.seek(0)
        try:
            lines = client.api.build(
                fileobj=context, custom_context=True, tag=tag, rm=True, forcerm=True, decode=True,
                buildargs={"BASE": DEBIAN_BASE if base is Base.DEBIAN else base.value},
                network_mode="none", labels=labels,
            )  # fmt: skip
            _follow(lines, progress)
        except APIError as error:
            raise SandboxError(f"the image could not be built ({engine.words(error)})") from None
    built = _look_up(client, base)
    if built is None:
        raise SandboxError(f"the build of {tag} ended without an image")
    return built


def _follow(lines: Iterable[dict[str, object]], progress: Progress) -> None:
    said: deque[str] = deque(maxlen=4)
    for line in lines:
        if "error" in line:
            said.append(str(line["error"]).strip()[:300])
            raise SandboxError(f"the image could not be built ({' | '.join(said)})")
        text = str(line.get("stream", "")).strip()
        if text.startswith("Step "):
            progress(text.splitlines()[0][:100])
        elif text:
            said.append(text[:300])


def _wheel_versions(wheels: Path) -> Iterator[str]:
    for wheel in wheels.glob("*.whl"):
        name, version, *_ = wheel.name.split("-")
        yield f"{name}=={version}"


def _write_context(context: IO[bytes], wheels: Path) -> None:
    with tarfile.open(fileobj=context, mode="w") as archive:
        archive.add(DOCKERFILE, "Dockerfile")
        for wheel in sorted(wheels.glob("*.whl")):
            archive.add(wheel, f"wheels/{wheel.name}")
        requirements = "".join(f"{line}\n" for line in REQUIREMENTS).encode()
        entry = tarfile.TarInfo("requirements.txt")
        entry.size = len(requirements)
        archive.addfile(entry, io.BytesIO(requirements))
