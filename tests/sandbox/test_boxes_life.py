"""How boxes start, talk and end, whoever ends them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest

from sandbox import cgroups, engine
from sandbox.boxes import EngineGone, Launcher, SandboxError, SharedDir
from sandbox.bwrap_boxes import BwrapBox, BwrapLauncher
from sandbox.channel import TAIL_BYTES
from sandbox.docker_boxes import BOX_LABEL, OWNER_LABEL, DockerBox, DockerLauncher
from sandbox.owner import Owner
from sandbox.protocol import ChannelError, ConnectionLost, DeadlinePassed
from tests.sandbox.box_programs.messages import Do
from tests.sandbox.boxes import MIB, PROGRAMS, SPEC, Obedient, builder, docker_launcher

ROOT = Path(__file__).parents[2]
PROMPT_S = 2.0


@contextlib.contextmanager
def at_most(limit_s: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < limit_s


def wait_until(condition: Callable[[], bool], limit_s: float = 5.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def leftovers(owner: str) -> list[str]:
    """Whatever on this machine says that it belongs to the launcher with this label."""
    found = [str(p) for p in Path(tempfile.gettempdir()).glob("judge-box.*")]
    version = cgroups.mounted()
    if version and os.geteuid() == 0:
        parents = {str(p) for p in cgroups._parents(version).values() if p.is_dir()}
        found += [e.path for parent in parents for e in os.scandir(parent) if e.is_dir()]
    with contextlib.suppress(EngineGone), engine.connected(builder().engine_url, 30) as client:
        filters = {"label": [f"{BOX_LABEL}=1"]}
        boxes = client.api.containers(all=True, filters=filters)
        volumes = client.api.volumes(filters)["Volumes"] or []
        found += [c["Labels"][OWNER_LABEL] for c in boxes]
        found += [v["Labels"][OWNER_LABEL] for v in volumes]
    return [name for name in found if owner in name]


def owner_of(launcher: Launcher) -> str:
    assert isinstance(launcher, DockerLauncher | BwrapLauncher)
    return launcher._owner.label


def test_large_frames_pass_in_both_directions(inside: Obedient) -> None:
    sent = os.urandom(MIB) * 48
    answer, back = inside.exchange("back = payload; answer = len(payload)", sent)
    assert answer == str(len(sent))
    assert back == sent


def test_a_box_that_floods_its_stderr_is_drained_and_forgotten(inside: Obedient) -> None:
    code = "import os\nfor _ in range(400): os.write(2, b'x' * (1 << 17))\nos.write(2, b'the end')"
    assert inside.run(code) == ""
    wait_until(lambda: inside.box.diagnostics().endswith("the end"))
    assert len(inside.box.diagnostics()) == TAIL_BYTES


def test_a_box_that_floods_its_channel_unread_can_still_be_ended(inside: Obedient) -> None:
    code = "import os\nfor _ in range(4000): os.write(control_out_fd, b'x' * (1 << 15))"
    inside.box.send(Do(code))
    time.sleep(1.0)
    with at_most(PROMPT_S):
        inside.box.kill()
    assert not inside.box.alive()


def test_silence_ends_at_the_deadline(inside: Obedient) -> None:
    with at_most(1.5), pytest.raises(DeadlinePassed):
        inside.run("import time; time.sleep(30)", patience_s=0.3)
    assert inside.box.alive()


def test_a_box_that_exits_is_noticed_at_once(inside: Obedient) -> None:
    with at_most(PROMPT_S), pytest.raises(ConnectionLost):
        inside.run("import os; os.write(2, b'goodbye'); os._exit(3)", patience_s=20)
    assert not inside.box.alive()
    wait_until(lambda: "goodbye" in inside.box.diagnostics())


def test_a_box_ended_from_outside_is_noticed_at_once(inside: Obedient) -> None:
    threading.Timer(0.3, end_from_outside, [inside]).start()
    with at_most(PROMPT_S + 0.3), pytest.raises(ConnectionLost):
        inside.run("import time; time.sleep(30)")
    assert not inside.box.alive()


def end_from_outside(inside: Obedient) -> None:
    if isinstance(inside.box, DockerBox):
        client = docker.DockerClient(base_url=builder().engine_url)
        client.api.remove_container(inside.box.container, force=True)
        client.close()
    elif isinstance(inside.box, BwrapBox):
        os.kill(inside.box.pid, signal.SIGKILL)


@pytest.mark.parametrize("kind", ["bwrap-groups", "bwrap"], indirect=True)
def test_the_end_of_bubblewrap_is_the_end_of_its_box(inside: Obedient) -> None:
    assert isinstance(inside.box, BwrapBox)
    os.kill(inside.box._processes.bubblewrap.pid, signal.SIGKILL)
    with at_most(PROMPT_S), pytest.raises(ConnectionLost):
        inside.run("import time; time.sleep(30)")


def test_killing_twice_and_talking_to_the_dead_is_harmless(inside: Obedient) -> None:
    inside.box.kill()
    inside.box.kill()
    assert not inside.box.alive()
    with pytest.raises(ConnectionLost):
        inside.run("answer = 1")


def test_a_reader_waiting_in_another_thread_sees_the_kill(inside: Obedient) -> None:
    seen: list[ChannelError] = []

    def read() -> None:
        try:
            inside.box.receive(object)
        except ChannelError as error:
            seen.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.1)
    inside.box.kill()
    reader.join(PROMPT_S)
    assert [type(error) for error in seen] == [ConnectionLost]


def test_a_box_outlives_the_thread_that_launched_it(
    box_launcher: Launcher, shared: SharedDir
) -> None:
    made: list[Obedient] = []
    thread = threading.Thread(target=lambda: made.append(Obedient(box_launcher, shared)))
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert made[0].run("answer = 6 * 7") == "42"
    made[0].box.kill()


def test_a_missing_entry_is_told_by_diagnostics(box_launcher: Launcher, shared: SharedDir) -> None:
    box = box_launcher.launch(dataclasses.replace(SPEC, entry=f"{PROGRAMS}.absent"), shared)
    with pytest.raises(ConnectionLost):
        box.receive(object, time.monotonic() + 10)
    wait_until(lambda: f"No module named '{PROGRAMS}.absent'" in box.diagnostics())
    box.kill()


def another(launcher: Launcher) -> DockerLauncher | BwrapLauncher:
    """A launcher of the same kind, of this process too."""
    assert isinstance(launcher, DockerLauncher | BwrapLauncher)
    return type(launcher)(launcher._settings)  # type: ignore[arg-type]  # of the same type


def test_more_processors_than_there_are_can_be_asked_for(
    box_launcher: Launcher, shared: SharedDir
) -> None:
    inside = Obedient(box_launcher, shared, dataclasses.replace(SPEC, cpus=1000.0))
    assert inside.run("answer = 1") == "1"
    inside.box.kill()


def test_a_closed_launcher_leaves_nothing(box_launcher: Launcher) -> None:
    other = another(box_launcher)
    folder = other.shared_dir()
    Obedient(other, folder).run("answer = 1")
    Obedient(other, folder)
    assert leftovers(owner_of(other))
    other.close()
    assert leftovers(owner_of(other)) == []


def test_a_container_that_cannot_start_leaves_nothing() -> None:
    launcher = docker_or_skip(runtime="no-such-runtime")
    with launcher.shared_dir() as folder, pytest.raises(SandboxError, match="runtime"):
        launcher.launch(SPEC, folder)
    launcher.close()
    assert leftovers(owner_of(launcher)) == []


def test_the_engines_default_profile_can_be_asked_for() -> None:
    launcher = docker_or_skip(seccomp="engine-default")
    with launcher.shared_dir() as folder:
        inside = Obedient(launcher, folder)
        code = "import ctypes; answer = ctypes.CDLL(None).unshare(0x10000000)"
        assert inside.run(code) == "-1"
        launcher.close()


def docker_or_skip(seccomp: str | None = None, runtime: str = "") -> Launcher:
    try:
        return docker_launcher(seccomp, runtime)
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")


LAUNCH_AND_WAIT = """
import sys, time
sys.path.insert(0, {here!r})
from tests.sandbox.conftest import make_launcher
from tests.sandbox.boxes import Obedient
launcher = make_launcher({name!r})
inside = Obedient(launcher, launcher.shared_dir())
inside.run("answer = 1")
print(launcher._owner.label, flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_leaves_is_removed_by_the_next(
    kind: str, box_launcher: Launcher
) -> None:
    code = LAUNCH_AND_WAIT.format(here=str(ROOT), name=kind)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        label = process.stdout.readline().strip()
        owner = Owner.parse(label)
        assert owner is not None, "the other process could not launch"
        process.kill()
    assert leftovers(label)
    time.sleep(0.3)
    box_launcher.remove_orphans()
    assert leftovers(label) == []


def test_what_was_left_before_the_machine_was_booted_is_removed(box_launcher: Launcher) -> None:
    earlier = another(box_launcher)
    earlier._owner = dataclasses.replace(earlier._owner, boot="an-earlier-one")
    Obedient(earlier, earlier.shared_dir()).run("answer = 1")
    assert leftovers(owner_of(earlier))
    box_launcher.remove_orphans()
    assert leftovers(owner_of(earlier)) == []
    earlier.close()


def test_several_can_clean_up_at_the_same_time(box_launcher: Launcher) -> None:
    dead = another(box_launcher)
    dead._owner = dataclasses.replace(dead._owner, started=1)
    for _ in range(4):
        Obedient(dead, dead.shared_dir())
    with ThreadPoolExecutor(4) as cleaners:
        done = [cleaners.submit(another(box_launcher).remove_orphans) for _ in range(4)]
    assert sum(each.result() for each in done) >= len(dead._folders)
    assert leftovers(owner_of(dead)) == []
    dead.close()


def test_boxes_of_living_processes_are_no_orphans(
    lasting: Obedient, box_launcher: Launcher
) -> None:
    box_launcher.remove_orphans()
    assert lasting.run("answer = 1") == "1"
