"""Launchers and boxes for the tests of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.boxes import Launcher, SandboxError, SharedDir
from sandbox.docker_boxes import ENGINE_DEFAULT
from tests.sandbox.boxes import Obedient, bwrap_launcher, docker_launcher


def make_launcher(name: str, *, nested: bool = True) -> Launcher:
    """The launcher called `name`; with `nested` False its boxes are refused namespaces inside."""
    try:
        if name == "docker":
            return docker_launcher(None if nested else ENGINE_DEFAULT)
        return bwrap_launcher(groups=name == "bwrap-groups", nested=nested)
    except SandboxError as error:
        if name == "bwrap-groups":
            pytest.skip(f"needs root: {error}")
        pytest.skip(f"needs {name}: {error}")


@pytest.fixture(scope="module", params=["docker", "bwrap-groups", "bwrap"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which launcher a test gets, for `make_launcher`."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def box_launcher(kind: str) -> Iterator[Launcher]:
    launcher = make_launcher(kind)
    yield launcher
    launcher.close()


@pytest.fixture(scope="module")
def shared(box_launcher: Launcher) -> Iterator[SharedDir]:
    with box_launcher.shared_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def lasting(box_launcher: Launcher, shared: SharedDir) -> Iterator[Obedient]:
    """A box for tests that leave it as it was."""
    inside = Obedient(box_launcher, shared)
    yield inside
    inside.box.kill()


@pytest.fixture
def inside(box_launcher: Launcher, shared: SharedDir) -> Iterator[Obedient]:
    """A warm box for one test."""
    fresh = Obedient(box_launcher, shared)
    fresh.run("")
    yield fresh
    fresh.box.kill()


@pytest.fixture(params=["docker", "bwrap-groups"])
def counted(request: pytest.FixtureRequest) -> Iterator[Obedient]:
    """A box whose memory and processes the kernel counts."""
    yield from _alone(request.param)


@pytest.fixture
def uncounted() -> Iterator[Obedient]:
    """A box without control groups."""
    yield from _alone("bwrap")


def _alone(name: str) -> Iterator[Obedient]:
    launcher = make_launcher(name)
    with launcher.shared_dir() as folder:
        yield Obedient(launcher, folder)
        launcher.close()
