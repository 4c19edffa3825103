"""What launchers in other containers leave behind when they are killed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from sandbox import owner
from sandbox.boxes import SandboxError
from sandbox.docker_boxes import DockerLauncher, DockerSharedDir
from sandbox.orphans import YOUNG_S
from tests.sandbox.boxes import Obedient, builder, docker_launcher
from tests.sandbox.test_boxes_life import leftovers, owner_of, wait_until

pytestmark = pytest.mark.owns_engine

LONG = ["sleep", "1000"]


@pytest.fixture
def sweeper() -> Iterator[DockerLauncher]:
    try:
        launcher = docker_launcher()
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")
    yield launcher
    launcher.close()


@pytest.fixture
def home(sweeper: DockerLauncher) -> Iterator[Container]:
    """A container, of which the tests say that a launcher runs in it."""
    client = docker.DockerClient(base_url=builder().engine_url)
    image = sweeper._settings.image.digest
    container = client.containers.run(image, LONG, detach=True, init=True)
    yield container
    container.remove(force=True)
    client.close()


def elsewhere(sweeper: DockerLauncher, home: Container | None = None) -> DockerLauncher:
    """A launcher as if in another pid namespace, and in `home` where one is given."""
    launcher = DockerLauncher(sweeper._settings)
    launcher._owner = dataclasses.replace(launcher._owner, namespace="1")
    if home:
        home.reload()
        launcher._home = f"{home.id}@{home.attrs['State']['StartedAt']}"
    return launcher


def warm(launcher: DockerLauncher) -> tuple[DockerSharedDir, Obedient]:
    folder = launcher.shared_dir()
    inside = Obedient(launcher, folder)
    assert inside.run("answer = 1") == "1"
    return folder, inside


def test_a_launcher_whose_container_runs_keeps_its_boxes(
    sweeper: DockerLauncher, home: Container
) -> None:
    other = elsewhere(sweeper, home)
    _folder, inside = warm(other)
    idle = other.shared_dir()
    home.pause()
    sweeper.remove_orphans(young_s=-1)
    home.unpause()
    assert inside.run("answer = 2") == "2"
    assert idle.name in volumes(sweeper)
    other.close()


def test_what_was_left_by_a_container_that_ended_is_removed(
    sweeper: DockerLauncher, home: Container
) -> None:
    other = elsewhere(sweeper, home)
    warm(other)
    home.kill()
    sweeper.remove_orphans()
    assert leftovers(owner_of(other)) == []
    other.close()


def test_what_was_left_by_a_container_that_was_started_anew_is_removed(
    sweeper: DockerLauncher, home: Container
) -> None:
    other = elsewhere(sweeper, home)
    warm(other)
    home.restart(timeout=0)
    sweeper.remove_orphans()
    assert leftovers(owner_of(other)) == []
    other.close()


def test_running_boxes_of_the_unknown_stay_and_so_does_their_folder(
    sweeper: DockerLauncher,
) -> None:
    other = elsewhere(sweeper)
    folder, inside = warm(other)
    sweeper.remove_orphans(young_s=-1)
    assert inside.run("answer = 2") == "2"
    assert folder.name in volumes(sweeper)
    other.close()


def test_a_new_folder_of_the_unknown_stays(sweeper: DockerLauncher) -> None:
    other = elsewhere(sweeper)
    folder = other.shared_dir()
    sweeper.remove_orphans(YOUNG_S)
    assert folder.name in volumes(sweeper)
    other.close()


def test_an_old_unused_folder_of_the_unknown_is_removed_and_made_again_when_it_is_missed(
    sweeper: DockerLauncher,
) -> None:
    other = elsewhere(sweeper)
    folder, inside = warm(other)
    inside.box.kill()
    sweeper.remove_orphans(young_s=-1)
    assert leftovers(owner_of(other)) == []
    again = Obedient(other, folder)
    assert again.run("import os; answer = oct(os.stat('/run/judge').st_mode)") == "0o41733"
    other.close()


def test_a_paused_box_of_the_unknown_is_removed(sweeper: DockerLauncher) -> None:
    other = elsewhere(sweeper)
    _folder, inside = warm(other)
    sweeper._client.api.pause(inside.box.container)  # type: ignore[attr-defined]  # a Docker box
    sweeper.remove_orphans()
    wait_until(lambda: not inside.box.alive())
    sweeper.remove_orphans(young_s=-1)
    assert leftovers(owner_of(other)) == []
    other.close()


def test_a_process_knows_the_container_it_runs_in(home: Container) -> None:
    code = f"{Path(owner.__file__).read_text()}\nprint(own_container())"
    status, said = home.exec_run(["python3", "-c", code])
    assert isinstance(said, bytes)
    assert (status, said.decode().strip()) == (0, home.id)


def volumes(launcher: DockerLauncher) -> list[str]:
    return [v["Name"] for v in launcher._client.api.volumes()["Volumes"] or []]
