"""What runs in a box whose students are confined with some of the defences left out.

Theory of operation
-------------------
It is a zygote of the simplest kind: it confines students by the same code as the real one, but
leaves out what it is told to, hands them one program to import, and says what came of it. The real
one has no such switch: this module reaches into the list of steps, inside a box made for it alone.

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
from sandbox.runner import confine, probes, seccomp, student, syscalls, warm
from sandbox.runner.confine import Surroundings
from sandbox.runner.init import Begin, Program
from sandbox.runner.spare import Spare

ENTRY = "tests.hostile.weakened"
PACKAGES = ("sandbox", "tests")
MEMORY_BYTES = 1 << 30
ANSWER_S = 3.0
PROBES_S = 10.0
LIMITS = Begin(cpu_s=10.0, output_bytes=1 << 20, address_space_bytes=1 << 40)
Defence = Callable[[int], None]
KERNEL = b"attention_kernel = None\n"


class Ready(Struct, frozen=True, tag="weakened-ready"):
    """The box is warm."""


class Try(Struct, frozen=True, tag="try"):
    """Let a student import `source`, confined without the defences in `without`."""

    source: bytes
    without: list[str]


class Outcome(Struct, frozen=True, tag="outcome"):
    """What came of it: "" when the program found nothing to object to, else what it said.

    `failed_probes` are the probes at a box's start that notice that something was left out.
    """

    objection: str
    failed_probes: list[str]


def main(_box_id: str, control_in_fd: int, control_out_fd: int) -> NoReturn:
    """Entry of the box; ends with the control channel."""
    control = Connection.over_pipes(control_in_fd, control_out_fd, MAX_ARGUMENT_BYTES)
    syscalls.adopt_orphans()
    warm.warm_up()
    warm.freeze()
    box = Surroundings.look()
    defences = _Defences()
    control.send(Ready())
    while True:
        try:
            asked, _ = control.receive(Try)
        except ChannelError:
            sys.exit(0)
        defences.leave_out(asked.without)
        nested = "namespaces" not in asked.without
        outcome = Outcome(
            objection=_import(box, asked.source, nested=nested),
            failed_probes=_failed_probes(box, nested=nested),
        )
        control.send(outcome)


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


def _import(box: Surroundings, source: bytes, *, nested: bool) -> str:
    """What the program objects to while it is imported, or how else it fails to answer."""
    try:
        reply = _answer(box, student.serve, nested=nested, ask=source)
    except ChannelError as error:
        return f"no answer: {error}"
    match reply:
        case Loaded():
            return ""
        case LoadFailed(failure=failure):
            return f"{failure.kind}: {failure.message}"
        case _:
            return f"answered {reply}"


def _answer(box: Surroundings, program: Program, *, nested: bool, ask: bytes) -> Reply:
    spare = Spare(box, program, nested=nested)
    try:
        if (broken := spare.wait_ready()) is not None:
            raise SystemExit(broken.reason)
        spare.begin(LIMITS)
        connection = Connection(spare.connection, MAX_RESULT_BYTES)
        connection.send(Load({"solution.py": ask}, Setting("solution.py", provided=KERNEL), 0))
        reply: Reply
        reply, _ = connection.receive(Reply, time.monotonic() + ANSWER_S)
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
