"""What runs in a box whose students are confined with some of the defences left out.

Theory of operation
-------------------
It is a zygote of the simplest kind: it confines students by the same code as the real one, but
leaves out what it is told to, hands them one program to import, and says what came of it. The real
one has no such switch: this module reaches into the list of steps, inside a box made for it alone.
Asked to, it says instead which of the probes at a box's start notice what is left out.

What can be left out is any step that `sandbox.runner.confine` takes, by its name, and

- ``filter``: the student's filter of system calls (the box has none here),
- ``namespaces``: namespaces of its own,
- ``close``: closing the descriptors that are not its own.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from msgspec import Struct

from sandbox.protocol import (
    MAX_ARGUMENT_BYTES,
    MAX_RESULT_BYTES,
    ChannelError,
    Connection,
    Load,
    Loaded,
    LoadFailed,
    Reply,
    Setting,
)
from sandbox.runner import confine, dynamo, heap, probes, seccomp, student, syscalls, warm
from sandbox.runner.confine import Surroundings
from sandbox.runner.init import Begin, Program
from sandbox.runner.spare import Spare

ENTRY = "tests.hostile.weakened"
PACKAGES = ("sandbox", "tests")
MEMORY_BYTES = 1 << 30
PROBES_S = 30.0
LIMITS = Begin(cpu_s=10.0, output_bytes=1 << 20, address_space_bytes=1 << 40)
Defence = Callable[[int], None]
KERNEL = b"attention_kernel = None\n"


class Ready(Struct, frozen=True, tag="weakened-ready"):
    """The box is warm."""


class Try(Struct, frozen=True, tag="try"):
    """Let a student import `source`, confined without the defences in `without`.

    It has `answer_s` seconds to answer.
    """

    source: bytes
    without: list[str]
    answer_s: float


class Outcome(Struct, frozen=True, tag="outcome"):
    """What came of it: "" when the program found nothing to object to, else what it said."""

    objection: str


class Probe(Struct, frozen=True, tag="probe"):
    """Let a student be probed who is confined without the defences in `without`."""

    without: list[str]


class Probed(Struct, frozen=True, tag="probed"):
    """The names of the probes that notice that something was left out."""

    failed: list[str]


def main(_box_id: str, control_in_fd: int, control_out_fd: int) -> NoReturn:
    """Entry of the box; ends with the control channel."""
    control = Connection.over_pipes(control_in_fd, control_out_fd, MAX_ARGUMENT_BYTES)
    syscalls.adopt_orphans()
    dynamo.keep_away()
    warm.warm_up()
    heap.settle()
    box = Surroundings.look()
    defences = _Defences()
    control.send(Ready())
    while True:
        try:
            asked, _ = control.receive(Try | Probe)
        except ChannelError:
            sys.exit(0)
        defences.leave_out(asked.without)
        nested = "namespaces" not in asked.without
        match asked:
            case Try():
                control.send(Outcome(_import(box, asked, nested=nested)))
            case Probe():
                control.send(Probed(_failed_probes(box, nested=nested)))


class _Defences:
    """The steps that confine a student, with some of them left out in every fork from now on."""

    def __init__(self) -> None:
        self._take = confine._take
        self._filter = seccomp.confine_student
        self._close = syscalls.close_from

    def leave_out(self, names: list[str]) -> None:
        """Leave out exactly these."""

        def take(name: str, step: Callable[[], None]) -> None:
            if name not in names:
                self._take(name, step)

        vars(confine)["_take"] = take
        vars(seccomp)["confine_student"] = self._unless("filter", names, self._filter)
        vars(syscalls)["close_from"] = self._unless("close", names, self._close)

    def _unless(self, name: str, left_out: list[str], defence: Defence) -> Defence:
        return _nothing if name in left_out else defence


def _nothing(_number: int) -> None:
    """In place of a defence."""


def _import(box: Surroundings, asked: Try, *, nested: bool) -> str:
    """What the program objects to while it is imported, or how else it fails to answer."""
    try:
        reply = _answer(box, student.serve, asked, nested=nested)
    except ChannelError as error:
        return f"no answer: {error}"
    match reply:
        case Loaded():
            return ""
        case LoadFailed(failure=failure):
            return f"{failure.kind}: {failure.message}"
        case _:
            return f"answered {reply}"


def _answer(box: Surroundings, program: Program, asked: Try, *, nested: bool) -> Reply:
    spare = Spare(box, program, nested=nested)
    try:
        if (broken := spare.wait_ready()) is not None:
            raise SystemExit(broken.reason)
        spare.begin(LIMITS)
        connection = Connection(spare.connection, MAX_RESULT_BYTES)
        setting = Setting("solution.py", provided=KERNEL)
        connection.send(Load({"solution.py": asked.source}, setting, 0))
        reply: Reply
        reply, _ = connection.receive(Reply, time.monotonic() + asked.answer_s)
        return reply
    finally:
        spare.destroy()
        _reap_all()


def _failed_probes(box: Surroundings, *, nested: bool) -> list[str]:
    spare = Spare(box, probes.run_nested, nested=nested)
    try:
        spare.wait_ready()
        results, _ = Connection(spare.connection, 0).receive(
            probes.ProbeResults, time.monotonic() + PROBES_S
        )
    except ChannelError as error:
        return [str(error)]
    else:
        return [probe.name for probe in results.probes if not probe.held]
    finally:
        spare.destroy()
        _reap_all()


def _reap_all() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
