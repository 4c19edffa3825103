"""The parts boxes are made of, one by one: archive, owner, channel, choice, survey."""

from __future__ import annotations

import dataclasses
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox import survey
from sandbox.archive import archive
from sandbox.boxes import SandboxError
from sandbox.channel import PIECE, Demultiplexer, Tail
from sandbox.choose import SandboxSettings, choose
from sandbox.image import ImageBuilder
from sandbox.owner import Owner, OwnerState
from sandbox.survey import State
from sandbox.watchdog import descendants, resident_bytes

NOWHERE = "unix:///nonexistent/docker.sock"


def silent(_line: str) -> None:
    """Progress nobody looks at."""


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
    assert owner.state() is OwnerState.ALIVE


@pytest.mark.parametrize("text", ["", "a.b.c", "boot.ns.pid.0.x", "boot.ns.1.2.3.4"])
def test_other_text_is_no_owner(text: str) -> None:
    assert Owner.parse(text) is None


def test_an_ended_process_is_dead_even_if_its_id_is_used_again() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    ended = dataclasses.replace(Owner.new(), pid=process.pid)
    assert ended.state() is OwnerState.DEAD
    assert dataclasses.replace(Owner.new(), started=1).state() is OwnerState.DEAD


def test_about_other_machines_and_containers_nothing_is_known() -> None:
    assert dataclasses.replace(Owner.new(), boot="x").state() is OwnerState.ELSEWHERE
    assert dataclasses.replace(Owner.new(), namespace="1").state() is OwnerState.ELSEWHERE


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


# --- watchdog -----------------------------------------------------------------------------------


def test_descendants_are_found_and_weighed() -> None:
    code = "import subprocess; subprocess.run(['sleep', '5'])"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while not descendants(process.pid):
            pass
        assert descendants(os.getpid())[0] == process.pid
        assert resident_bytes(process.pid) > 1 << 20
        subprocess.run(["kill", *map(str, descendants(process.pid))], check=True)
    assert resident_bytes(process.pid) == 0
