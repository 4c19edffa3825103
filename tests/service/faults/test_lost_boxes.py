"""Containers of a living worker are removed or stopped from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import docker
import pytest

from judge.problem import Problem, load_problem
from judge.settings import Settings
from sandbox import engine
from sandbox.boxes import Role, SandboxError
from sandbox.docker_boxes import BOX_LABEL, OWNER_LABEL, ROLE_LABEL
from sandbox.owner import Owner
from tests.service.faults.crew import START_S, Crew
from tests.service.faults.desk import PATIENCE_S, RIGHT, SLOW, Desk, wait_until
from tests.small_problem import write_problem


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    with ExitStack() as stack:
        try:
            yield stack.enter_context(engine.connected(Settings().docker_host, 30))
        except SandboxError as error:
            pytest.skip(f"needs docker: {error}")


@pytest.fixture(scope="module")
def slow_problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """The small problem as it is: how long a call may take is waited for when a box is paused."""
    return load_problem(write_problem(tmp_path_factory.mktemp("problem")))


@pytest.fixture(scope="module")
def module_crew(
    client: docker.DockerClient,
    module_url: str,
    module_desk: Desk,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Crew]:
    del client
    logs = tmp_path_factory.mktemp("workers")
    with Crew(module_url, logs, size=1, sandbox="docker") as crew:
        module_desk.wait_until_idle()
        yield crew


class Boxes:
    """The containers of the one worker there is."""

    def __init__(self, client: docker.DockerClient, pid: int) -> None:
        self._api = client.api
        self._pid = pid

    def of(self, *roles: Role) -> list[str]:
        found = self._api.containers(filters={"label": [f"{BOX_LABEL}=1"], "status": "running"})
        return [each["Id"] for each in found if self._is_ours(each["Labels"], roles)]

    def remove(self, *roles: Role) -> None:
        for box in self.of(*roles):
            self._api.remove_container(box, force=True)

    def pause(self, *roles: Role) -> None:
        for box in self.of(*roles):
            self._api.pause(box)

    def _is_ours(self, labels: dict[str, str], roles: tuple[Role, ...]) -> bool:
        owner = Owner.parse(labels[OWNER_LABEL])
        return owner is not None and owner.pid == self._pid and labels[ROLE_LABEL] in roles


@pytest.fixture
def boxes(client: docker.DockerClient, crew: Crew, desk: Desk) -> Boxes:
    """The boxes, all of them warm: grader, runner and reserve."""
    for _ in range(2):  # what the worker said last may be from before the end of the last test
        wait_for_beat(desk)
    wait_until(
        lambda: [row.boxes["warm"] for row in desk.run(desk.store.workers())] == [3], START_S
    )
    return Boxes(client, crew.workers[0].pid)


def wait_for_beat(desk: Desk) -> None:
    last = desk.query("SELECT max(seen_at) FROM workers")
    wait_until(lambda: desk.query("SELECT max(seen_at) FROM workers") != last)


# A box that is paused is not seen to be gone, so it matters which one; a removed one is.
@pytest.mark.parametrize(
    ("take", "roles"),
    [
        pytest.param(Boxes.remove, tuple(Role), id="removed"),
        pytest.param(Boxes.pause, (Role.RUNNER,), id="runner paused"),
        pytest.param(Boxes.pause, (Role.GRADER,), id="grader paused"),
    ],
)
def test_boxes_lost_in_the_middle_cost_the_student_nothing(
    boxes: Boxes, crew: Crew, desk: Desk, take: Callable[..., None], roles: tuple[Role, ...]
) -> None:
    submission = desk.submit(SLOW)
    desk.wait_for_check(submission)
    take(boxes, *roles)
    desk.wait_for_verdict(submission, PATIENCE_S + crew.start_s)
    desk.require(submission)


def test_boxes_paused_while_idle_cost_the_next_student_nothing(
    boxes: Boxes, crew: Crew, desk: Desk
) -> None:
    boxes.pause(*Role)
    submission = desk.submit(RIGHT)
    desk.wait_for_verdict(submission, PATIENCE_S + crew.start_s)
    desk.require(submission)
