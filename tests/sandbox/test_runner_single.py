"""Where nested namespaces are refused, a box says so, its defences hold, and it serves one job."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from sandbox.boxes import SHARED_FOLDER, Box, Launcher, Mode, Role, SharedDir
from sandbox.protocol import Probe, Returned, TryMemory
from tests.sandbox.boxes import SPEC, Obedient
from tests.sandbox.conftest import make_launcher
from tests.sandbox.leases import Grader, runner_box, soon

BWRAP = ("bwrap-groups", "bwrap")
LEAVE_NOTES = """
import os
def f(folders):
    left = []
    for folder in folders:
        try:
            open(folder + "/note", "w").close()
            left.append(folder)
        except OSError:
            pass
    return left
"""
# What a runner has, and a box that is quickly there can have as well.
HAS_A_SOCKET = f"""
import os, socket
if "JUDGE_LISTENER_FD" not in os.environ:  # else the launcher has made it
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("{SHARED_FOLDER}/" + box_id + ".sock")
"""

# Init may see the end of such a student before it has read that it was ready.
HASTY = """
from sandbox.runner import init, syscalls
from sandbox.runner.confine import Surroundings
from sandbox.runner.spare import Spare
syscalls.adopt_orphans()
box = Surroundings.look()
for _ in range(100):
    spare = Spare(box, lambda sock: init.announce_ready(), nested=False)
    assert (broken := spare.wait_ready()) is None, broken
    assert (ended := spare.wait_ended()) is not None and ended.code == 0, ended
    spare.destroy()
"""


@pytest.fixture(scope="module", params=["docker", *BWRAP])
def single(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    launcher = make_launcher(request.param, nested=False)
    yield launcher
    launcher.close()


@pytest.fixture(scope="module")
def folder(single: Launcher) -> Iterator[SharedDir]:
    with single.shared_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def box(single: Launcher, folder: SharedDir) -> Iterator[Box]:
    neighbour = Obedient(single, folder)
    try:
        assert neighbour.run(HAS_A_SOCKET) == ""
        with runner_box(single, folder) as box:
            yield box
    finally:
        neighbour.box.kill()


def test_a_single_box_says_why_and_its_defences_hold(single: Launcher, box: Box) -> None:
    assert box.ready is not None
    assert not box.ready.nested
    assert "nested namespaces are refused" in box.ready.reason
    assert [probe for probe in box.ready.probes if not probe.held] == []
    assert box.environment.sandbox == f"{single.name}/{Mode.SINGLE}"


def test_memory_is_bounded_in_a_single_box(box: Box) -> None:
    box.send(TryMemory(), deadline=soon())
    probe, _ = box.receive(Probe, soon())
    assert probe.held, probe.detail


@pytest.mark.parametrize("single", BWRAP, indirect=True)
def test_a_single_student_can_write_to_its_own_boxs_scratch_only(
    box: Box, folder: SharedDir
) -> None:
    grader = Grader(box, folder)
    student = grader.take().loaded(LEAVE_NOTES)
    reply = student.call(["/tmp", "/dev/shm", "/run/judge", "/run", "/dev", "/"])
    grader.close()
    assert isinstance(reply, Returned)
    assert getattr(reply.value, "items", None) == ["/tmp", "/dev/shm"]


def test_a_killed_runner_leaves_no_socket(single: Launcher, box: Box, folder: SharedDir) -> None:
    # The last of the module: the others share this box.
    grader = Obedient(single, folder, dataclasses.replace(SPEC, role=Role.GRADER))
    look = f"import os; answer = os.path.lexists('{SHARED_FOLDER}/{box.id}.sock')"
    assert grader.run(look) == "True"
    box.kill()
    assert grader.run(look) == "False"
    grader.box.kill()


def test_a_student_that_ends_as_soon_as_it_is_ready_was_ready(
    single: Launcher, folder: SharedDir
) -> None:
    neighbour = Obedient(single, folder)
    try:
        assert neighbour.run(HASTY, patience_s=60) == ""
    finally:
        neighbour.box.kill()
