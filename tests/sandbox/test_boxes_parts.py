"""The parts boxes are made of, one by one: archive, owner, channel, choice, survey."""

from __future__ import annotations

import dataclasses
import io
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox import boot, cgroups, survey
from sandbox.archive import archive
from sandbox.boxes import SITE_PACKAGES, SandboxError
from sandbox.bwrap_boxes import _is_ours, find_binary
from sandbox.channel import PIECE, AttachPump, Demultiplexer, Tail
from sandbox.choose import SandboxSettings, choose
from sandbox.image import DOCKERFILE, ImageBuilder
from sandbox.owner import Owner, OwnerState
from sandbox.survey import State
from sandbox.watchdog import descendants, resident_bytes
from tests.sandbox.boxes import as_nobody

ROOT = Path(__file__).parents[2]
NOWHERE = "unix:///nonexistent/docker.sock"


def silent(_line: str) -> None:
    """Progress nobody looks at."""


# --- layout -------------------------------------------------------------------------------------


def test_the_code_that_may_import_nothing_and_the_image_know_the_same_layout() -> None:
    assert boot.SITE_PACKAGES == SITE_PACKAGES
    assert f"--target {SITE_PACKAGES} " in DOCKERFILE.read_text()


# --- archive ------------------------------------------------------------------------------------


def test_an_archive_is_the_same_for_the_same_sources() -> None:
    first = archive(("sandbox",))
    archive.cache_clear()
    assert archive(("sandbox",)) == first


def test_an_archive_holds_sources_only() -> None:
    with zipfile.ZipFile(io.BytesIO(archive(("sandbox",)))) as content:
        names = content.namelist()
    assert "sandbox/protocol.py" in names
    assert "sandbox/runner/__init__.py" in names
    assert all(name.startswith("sandbox/") and name.endswith(".py") for name in names)


def test_an_archive_of_an_inner_package_brings_its_parents_along() -> None:
    with zipfile.ZipFile(io.BytesIO(archive(("sandbox.runner",)))) as content:
        names = content.namelist()
    assert "sandbox/__init__.py" in names
    assert "sandbox/runner/__init__.py" in names
    assert "sandbox/protocol.py" not in names


def test_an_archive_of_an_unknown_package_is_refused() -> None:
    with pytest.raises(SandboxError, match="no_such_package"):
        archive(("no_such_package",))


# --- owner --------------------------------------------------------------------------------------


def test_an_owner_survives_being_written_down() -> None:
    owner = Owner.new()
    assert Owner.parse(owner.label) == owner
    assert owner.state(same_machine=True) is OwnerState.ALIVE


@pytest.mark.parametrize("text", ["", "a.b.c", "boot.ns.pid.0.x", "boot.ns.1.2.3.4"])
def test_other_text_is_no_owner(text: str) -> None:
    assert Owner.parse(text) is None


def test_an_ended_process_is_dead_even_if_its_id_is_used_again() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    ended = dataclasses.replace(Owner.new(), pid=process.pid)
    assert ended.state(same_machine=False) is OwnerState.DEAD
    reused = dataclasses.replace(Owner.new(), started=1)
    assert reused.state(same_machine=False) is OwnerState.DEAD


def test_whoever_lived_before_the_machine_was_booted_is_dead() -> None:
    earlier = dataclasses.replace(Owner.new(), boot="x")
    assert earlier.state(same_machine=True) is OwnerState.DEAD


def test_about_other_machines_and_containers_nothing_is_known() -> None:
    far_away = dataclasses.replace(Owner.new(), boot="x")
    assert far_away.state(same_machine=False) is OwnerState.ELSEWHERE
    contained = dataclasses.replace(Owner.new(), namespace="1")
    assert contained.state(same_machine=True) is OwnerState.ELSEWHERE


# --- channel ------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2, 3, 7, 8, 9, 64])
def test_a_stream_is_taken_apart_wherever_it_is_cut(step: int) -> None:
    stream = b"".join(
        PIECE.pack(fd, len(data)) + data
        for fd, data in [(1, b"abc"), (2, b""), (2, b"oops"), (1, b"d")]
    )
    taken: dict[int, bytes] = {1: b"", 2: b""}
    pieces = Demultiplexer()
    for start in range(0, len(stream), step):
        for fd, data in pieces.feed(memoryview(stream[start : start + step])):
            taken[fd] += data
    assert taken == {1: b"abcd", 2: b"oops"}


def test_a_tail_keeps_the_end() -> None:
    tail = Tail(10)
    tail.append(b"0123456789")
    tail.append(b"\xffabc")
    assert tail.text() == "456789\ufffdabc"


def test_a_broken_end_towards_us_still_closes_the_boxs_stdin() -> None:
    engine_end, stream = socket.socketpair()
    pump = AttachPump(stream)
    pump._inner.close()
    pump._close_inner()
    engine_end.settimeout(1)
    assert engine_end.recv(1) == b""
    for end in (engine_end, stream, pump.socket):
        end.close()


# --- choice -------------------------------------------------------------------------------------


def test_without_an_engine_auto_is_bubblewrap_and_says_why(tmp_path: Path) -> None:
    choice = choose("auto", SandboxSettings(tmp_path, NOWHERE), silent)
    choice.launcher.close()
    assert choice.launcher.name == "bwrap"
    assert "no Docker engine answers" in choice.why
    assert "\n" not in choice.why


def test_docker_asked_for_is_never_something_else(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no Docker engine answers") as caught:
        choose("docker", SandboxSettings(tmp_path, NOWHERE), silent)
    assert "Start Docker" in caught.value.remedy


def test_without_either_both_reasons_are_given(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    broken.chmod(0o755)
    settings = SandboxSettings(tmp_path, NOWHERE, bwrap=broken)
    with pytest.raises(SandboxError, match=r"no Docker engine answers.*no luck"):
        choose("auto", settings, silent)


# --- survey -------------------------------------------------------------------------------------


def test_a_survey_without_an_engine_says_what_to_do(tmp_path: Path) -> None:
    findings = survey.survey(ImageBuilder(NOWHERE, tmp_path))
    engine = next(f for f in findings if f.name == "docker engine")
    assert engine.state is State.MISSING
    assert engine.remedy


def test_whatever_is_not_ok_has_a_remedy(tmp_path: Path) -> None:
    for finding in survey.survey(ImageBuilder(NOWHERE, tmp_path), tmp_path / "no-bwrap"):
        assert finding.detail
        assert finding.state is State.OK or finding.remedy.endswith(".")


def test_other_processors_are_refused_in_words() -> None:
    survey.require_processor("x86_64", "this machine")
    with pytest.raises(SandboxError, match="x86_64 only, and this machine is aarch64") as caught:
        survey.require_processor("aarch64", "this machine")
    assert caught.value.remedy


def test_namespaces_that_are_refused_are_found_out() -> None:
    # The user must not be root inside, who would want to become nobody for the probe.
    refusing = [str(find_binary()), "--unshare-user", "--uid", "1000", "--disable-userns"]
    look = "from sandbox.survey import _probe_user_namespace; print(_probe_user_namespace())"
    done = subprocess.run(
        [*refusing, "--bind", "/", "/", "--", sys.executable, "-c", look],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "False\n", done.stderr


# --- control groups and leftovers -----------------------------------------------------------------


def test_what_keeps_control_groups_from_being_made_is_said_truly() -> None:
    with as_nobody():
        assert "need root" in cgroups.why_not()
    assert ("need root" in cgroups.why_not()) == (os.geteuid() != 0)


def test_a_group_that_cannot_have_its_bounds_is_not_left_behind() -> None:
    version, owner = cgroups.available(), Owner.new()
    if version is None:
        pytest.skip("needs root: control groups cannot be made here")
    with pytest.raises(SandboxError, match="memory limit"):
        cgroups.create(version, owner, "refused", -5, 10, 1.0)
    assert not list(cgroups.ROOT.glob(f"**/{owner.label}*"))


def test_a_folder_that_somebody_else_has_just_removed_is_not_ours(tmp_path: Path) -> None:
    assert _is_ours(tmp_path)
    assert not _is_ours(tmp_path / "gone")


# --- watchdog -----------------------------------------------------------------------------------


def test_descendants_are_found_and_weighed() -> None:
    code = "import subprocess; subprocess.run(['sleep', '5'])"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while not descendants(process.pid):
            pass
        assert process.pid in descendants(os.getpid())
        assert resident_bytes(process.pid) > 1 << 20
        subprocess.run(["kill", *map(str, descendants(process.pid))], check=True)
    assert resident_bytes(process.pid) == 0
