"""The parent of one student: the first process of its namespaces.

Theory of operation
-------------------
Init makes the namespaces complete, forks the student and then only watches: it drains the pipe
that is the student's stdout and stderr (keeping the first part, counting the rest), watches its
CPU clock, and reaps it, unless it was told to end it. It talks to the zygote in small messages over
a socket pair:

    init                             zygote
      Ready, or Broken  ------------>
                        <------------  Begin(limits)
                        <------------  Look
      Looked            ------------>
                        <------------  End
      Ended             ------------>

What a student uses is read here, from the kernel's accounts of it, and not in the zygote: the
accounts have its own words in them (the name of a thread), which must not stay there.

`Ended` comes exactly once, whoever ends the student; then init exits, and the kernel removes
whatever is left in the namespaces, which may be a student that was killed and is not gone yet. A
zygote that is gone ends everything too. Init installs no handler for any signal a student could
send: without one the kernel does not deliver it to the first process of a namespace.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

import msgspec
from msgspec import Struct

from sandbox.runner import counters, seccomp, syscalls
from sandbox.runner.confine import (
    SetupFailed,
    Surroundings,
    become_student,
    enter_namespaces,
    keep_only,
)

KEPT_OUTPUT_BYTES = 64 << 10
CONNECTION_FD = 3
MAX_MESSAGE_BYTES = 4096
CPU_GRACE_S = 1  # the kernel's own limit, in whole seconds, stands behind ours
_CHUNK_BYTES = 1 << 16
_SHORTEST_WAIT_S = 0.005
_CLOSE_LOOK_S = 0.001  # between two looks: no memory is filled faster than by some MB in that time
_HAND_OVER_S = 0.2  # a socket holds more than we keep, so this does not wait
_READY_FD = 4

Cause = Literal["killed", "exited", "signalled", "output", "cpu"]
Program = Callable[[socket.socket], None]


class Ready(Struct, frozen=True, tag="ready"):
    """The student is confined, warm and waits on its connection."""


class Broken(Struct, frozen=True, tag="broken"):
    """No student could be made: the step that was refused, and why."""

    reason: str


class Begin(Struct, frozen=True, tag="begin"):
    """Limits for the student."""

    cpu_s: float
    output_bytes: int
    address_space_bytes: int


class Look(Struct, frozen=True, tag="look"):
    """Say what the student has used; with `closely`, go on looking at its memory."""

    closely: bool


class End(Struct, frozen=True, tag="end"):
    """Kill the student."""


class Looked(Struct, frozen=True, tag="looked"):
    """What the student has used since `Begin`: memory now and at most, beyond what it had then."""

    cpu_ms: float
    memory_bytes: int
    peak_memory_bytes: int


class Ended(Struct, frozen=True, tag="ended"):
    """How the student ended, and what it used since `Begin`."""

    cause: Cause
    code: int
    signal: int
    output_truncated: bool
    cpu_ms: float
    peak_memory_bytes: int


FromInit = Ready | Broken | Looked | Ended
ToInit = Begin | Look | End


@dataclass
class Link:
    """One end of the socket pair between init and zygote: whole messages, never blocking long."""

    socket: socket.socket

    def send(self, message: Struct) -> None:
        """Send one message; that the peer is gone is noticed when reading."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.send(msgspec.msgpack.encode(message))

    def receive_from_init(self) -> FromInit | None:
        """The next message, None when init is gone."""
        data = self._data()
        return _FROM_INIT.decode(data) if data else None

    def receive_from_zygote(self) -> ToInit | None:
        """The next message, None when the zygote is gone."""
        data = self._data()
        return _TO_INIT.decode(data) if data else None

    def _data(self) -> bytes:
        try:
            return self.socket.recv(MAX_MESSAGE_BYTES)
        except ConnectionResetError:
            return b""


_FROM_INIT: msgspec.msgpack.Decoder[FromInit] = msgspec.msgpack.Decoder(FromInit)
_TO_INIT: msgspec.msgpack.Decoder[ToInit] = msgspec.msgpack.Decoder(ToInit)


def run(
    link_fd: int,
    connection_fd: int,
    output_fd: int,
    box: Surroundings,
    program: Program,
    *,
    nested: bool,
) -> NoReturn:
    """Be the init of one student that runs `program`; never returns.

    `connection_fd` is the student's end of the connection it will answer on; to `output_fd` goes
    what it printed, once it has ended.
    """
    keep_only((link_fd, connection_fd, output_fd), first=3)
    link = Link(socket.socket(fileno=3))
    try:
        proc_fd = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        _leave_parent_behind()
        if nested:
            enter_namespaces(box)
        else:
            syscalls.die_with_parent()
        child = _fork_student(4, proc_fd, program)
    except SetupFailed as error:
        link.send(Broken(str(error)))
        os._exit(1)
    account = _Account(box.scratch)
    _Watch(link, child, socket.socket(fileno=5), account, kill_all=nested).run()
    os._exit(0)


@dataclass(frozen=True)
class _Child:
    """The student, the pipe it writes to and the pipe on which it says that it is set up.

    `proc_fd` is a /proc in which it can be found, under the name that it says first on that pipe.
    """

    pid: int
    output_fd: int
    ready_fd: int
    proc_fd: int


def _leave_parent_behind() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _fork_student(connection_fd: int, proc_fd: int, program: Program) -> _Child:
    output_fd, output_end = os.pipe()
    ready_fd, ready_end = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    pid = os.fork()
    if pid == 0:
        _be_student(proc_fd, (null, output_end, output_end, connection_fd, ready_end), program)
    for descriptor in (output_end, ready_end, null, connection_fd):
        os.close(descriptor)
    os.set_blocking(output_fd, False)
    return _Child(pid, output_fd, ready_fd, proc_fd)


def _be_student(proc_fd: int, descriptors: tuple[int, ...], program: Program) -> NoReturn:
    exit_now = os._exit  # submitted code may replace the name
    try:
        os.write(descriptors[-1], os.readlink("self", dir_fd=proc_fd).encode())
        become_student(proc_fd, descriptors)
        seccomp.confine_student(os.getpid())
        program(socket.socket(fileno=CONNECTION_FD))
        exit_now(0)
    except SetupFailed as error:
        os.write(
            2, str(error).encode()
        )  # the box's stderr before the descriptors moved, init's after
    except BaseException:  # noqa: BLE001  # the border of a process: there is nobody above
        traceback.print_exc()
    finally:
        exit_now(1)


def announce_ready() -> None:
    """Called by a student's program when it is about to wait for its first request."""
    os.write(_READY_FD, b"+")
    os.close(_READY_FD)


class _Watch:
    """From the student's fork to its end."""

    def __init__(
        self,
        link: Link,
        child: _Child,
        printed: socket.socket,
        account: _Account,
        *,
        kill_all: bool,
    ) -> None:
        self._link = link
        self._printed = printed
        self._child = child
        self._kill_all = kill_all
        self._limits: Begin | None = None
        self._cpu_before_s = 0.0
        self._said = b""
        self._has_said_all = False
        self._ready = False
        self._account = account
        self._cause: Cause | None = None
        self._output = bytearray()
        self._output_open = True
        self._output_bytes = 0
        self._poll = select.poll()
        self._wakeup_fd = _wake_on_child_exit()
        for descriptor in (link.socket.fileno(), child.output_fd, child.ready_fd, self._wakeup_fd):
            self._poll.register(descriptor, select.POLLIN)

    def run(self) -> None:
        """Watch until the student is reaped, and report; `_end` may report before that."""
        while not self._reaped():
            for descriptor, _ in self._poll.poll(self._patience_ms()):
                self._serve(descriptor)
            self._account.look_again()
            if self._account.lost:
                self._end_the_rest()
            if self._limits and self._cpu_s() - self._cpu_before_s >= self._limits.cpu_s:
                self._kill("cpu")

    def _serve(self, descriptor: int) -> None:
        if descriptor == self._child.output_fd:
            self._drain_once()
        elif descriptor == self._child.ready_fd:
            self._hear_ready()
        elif descriptor == self._wakeup_fd:
            os.read(self._wakeup_fd, _CHUNK_BYTES)
        else:
            self._obey()

    def _obey(self) -> None:
        match self._link.receive_from_zygote():
            case Begin() as limits:
                self._begin(limits)
            case Look(closely):
                self._look(closely=closely)
            case End():
                self._end()
            case None:
                os._exit(1)  # takes the namespaces along; without them the student is tied to us

    def _begin(self, limits: Begin) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended; that is seen next
            self._cpu_before_s = self._cpu_s()
            soft = math.ceil(self._cpu_before_s + limits.cpu_s) + CPU_GRACE_S
            resource.prlimit(self._child.pid, resource.RLIMIT_CPU, (soft, soft + CPU_GRACE_S))
            both = (limits.address_space_bytes, limits.address_space_bytes)
            resource.prlimit(self._child.pid, resource.RLIMIT_AS, both)
        self._account.begin()
        self._limits = limits

    def _end(self) -> None:
        """Kill the student and, where it goes with this process whatever happens, report at once.

        The kernel takes longer to take apart what it had than most checks take. Only the zygote has
        to wait for that, before it makes another. A student that is ending already is reaped first:
        only then it is known how it ended.
        """
        used_s = self._cpu_s() - self._cpu_before_s
        peak_bytes = self._account.peak_bytes()
        on_its_way = self._cause is not None or self._account.lost
        self._kill("killed")
        if self._kill_all and self._ready and not on_its_way:
            self._report_end(signal.SIGKILL, used_s, peak_bytes)
            os._exit(0)

    def _look(self, *, closely: bool) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended; that is seen next
            used_ms = (self._cpu_s() - self._cpu_before_s) * 1000
            now_bytes, peak_bytes = self._account.memory_bytes(closely=closely)
            if not self._account.lost:  # else it has ended, or its other threads soon will
                self._link.send(Looked(used_ms, now_bytes, peak_bytes))

    def _hear_ready(self, *, reaped: bool = False) -> None:
        said = os.read(self._child.ready_fd, _CHUNK_BYTES)
        self._said += said
        self._ready = self._said.endswith(b"+")
        if said and not self._ready:
            return
        self._poll.unregister(self._child.ready_fd)
        os.close(self._child.ready_fd)
        self._has_said_all = True
        if self._ready:
            if not reaped:
                self._account.open(self._child.proc_fd, self._said[:-1].decode())
            self._link.send(Ready())
        os.close(self._child.proc_fd)

    def _drain_once(self) -> bool:
        """Read one chunk of output; False when there is none now."""
        try:
            data = os.read(self._child.output_fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:  # it closed its descriptors
            if self._output_open:
                self._poll.unregister(self._child.output_fd)
            self._output_open = False
            return False
        self._output_bytes += len(data)
        self._output += data[: KEPT_OUTPUT_BYTES - len(self._output)]
        if self._limits and self._output_bytes > self._limits.output_bytes:
            self._kill("output")
        return True

    def _kill(self, cause: Cause) -> None:
        self._cause = self._cause or cause
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1 if self._kill_all else self._child.pid, signal.SIGKILL)

    def _end_the_rest(self) -> None:
        """Its first thread has ended: so has all of it, or the others go on without an account.

        The former ends as it did, whatever is sent to it.
        """
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGKILL)

    def _reaped(self) -> bool:
        pid, status, usage = os.wait4(self._child.pid, os.WNOHANG)
        if pid == 0:
            return False
        if not self._has_said_all:
            self._hear_ready(reaped=True)  # it may have said so with its last breath
        if self._ready:
            used_s = usage.ru_utime + usage.ru_stime - self._cpu_before_s
            self._report_end(status, used_s, usage.ru_maxrss << 10)
        else:
            self._drain()
            self._link.send(self._broken(status))
        return True

    def _report_end(self, status: int, used_s: float, peak_bytes: int) -> None:
        """Hand over what was printed and say how the student ended, as in a wait status."""
        self._drain()
        self._hand_over_output()
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        ended = Ended(
            cause=self._cause or self._natural_cause(number, used_s),
            code=0 if number else os.waitstatus_to_exitcode(status),
            signal=number,
            output_truncated=self._output_bytes > len(self._output),
            cpu_ms=used_s * 1000,
            peak_memory_bytes=peak_bytes,
        )
        self._link.send(ended)

    def _drain(self) -> None:
        """At most what a pipe holds, for its writers have been killed."""
        while self._drain_once():
            pass

    def _hand_over_output(self) -> None:
        """Past the zygote, whose later students must find nothing of this one in its memory."""
        self._printed.settimeout(_HAND_OVER_S)
        with contextlib.suppress(OSError):  # whoever wanted it is gone
            self._printed.sendall(self._output)
        self._printed.close()

    def _broken(self, status: int) -> Broken:
        said = bytes(self._output).decode("utf-8", "replace")
        return Broken(f"the student ended with status {status} during set-up: {said}"[:1000])

    def _natural_cause(self, number: int, used_s: float) -> Cause:
        over = self._limits is not None and used_s >= self._limits.cpu_s
        if over and number in (signal.SIGXCPU, signal.SIGKILL):
            return "cpu"
        return "signalled" if number else "exited"

    def _cpu_s(self) -> float:
        return time.clock_gettime(syscalls.cpu_clock(self._child.pid))

    def _patience_ms(self) -> float | None:
        """Until the student can have used up its CPU time on all processors at once."""
        if self._limits is None:
            return None
        if self._account.closely:
            return _CLOSE_LOOK_S * 1000
        left_s = self._limits.cpu_s - (self._cpu_s() - self._cpu_before_s)
        return max(left_s / (os.cpu_count() or 1), _SHORTEST_WAIT_S) * 1000


class _Account:
    """The memory of the student, beyond what it had when it was handed over.

    The kernel keeps the highest mark of all its pages, which freeing does not lower. A student
    could make room under that mark, by giving away pages of libraries that it needs no more; so
    what it has in other pages is also looked at, again and again while a call is measured, and
    what it has written into the folders `scratch`, which are in memory.

    It is `lost` when the kernel says nothing more, since the first thread has ended.
    """

    def __init__(self, scratch: Sequence[str]) -> None:
        self.closely = False
        self.lost = False
        self._scratch = scratch
        self._status_fd = -1
        self._at_first = counters.Memory(0, 0, 0, 0)
        self._own_at_first_bytes = 0
        self._most_own_bytes = 0

    def open(self, proc_fd: int, name: str) -> None:
        """Find the student in a /proc."""
        self._status_fd = os.open(f"{name}/status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc_fd)

    def begin(self) -> None:
        """Count from here."""
        self._at_first = self._look()
        self._own_at_first_bytes = self._most_own_bytes

    def look_again(self) -> None:
        """Look, if that is wanted."""
        if self.closely:
            self._look()

    def peak_bytes(self) -> int:
        """The most that it held at any time, also before it was handed over."""
        return self._look().peak

    def memory_bytes(self, *, closely: bool) -> tuple[int, int]:
        """What it holds now, and the most so far; `closely` says whether to go on looking."""
        self.closely = closely
        now, first = self._look(), self._at_first
        marked_bytes = now.peak - first.resident
        own_bytes = self._most_own_bytes - self._own_at_first_bytes
        return now.resident - first.resident, max(marked_bytes, own_bytes)

    def _look(self) -> counters.Memory:
        now = counters.memory_in(self._status_fd)
        self.lost = now.resident == 0
        # A file that is mapped is among the shared pages, and must not count twice.
        unseen_bytes = max(counters.bytes_in(self._scratch) - now.shared, 0)
        self._most_own_bytes = max(self._most_own_bytes, now.own + unseen_bytes)
        return now


def _wake_on_child_exit() -> int:
    """A descriptor that becomes readable when a child ends."""
    wakeup_fd, wakeup_end = os.pipe()
    os.set_blocking(wakeup_fd, False)
    os.set_blocking(wakeup_end, False)
    signal.set_wakeup_fd(wakeup_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return wakeup_fd
