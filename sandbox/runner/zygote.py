"""The first process of a runner box: warm, and forking.

Theory of operation
-------------------
`main` warms up, finds out what this machine allows, tries every defence with a hostile program,
says so on the control channel, and then serves leases over a unix socket, one at a time:

    spare being made -> spare ready -> leased -> ended -> (a new spare)

A spare is made as soon as the one before is gone, so a lease costs only the handing over of a
descriptor. `Report` is sent exactly once per granted lease: at once when the student ends by
itself, or in answer to `Release`. A `Release` that crosses a `Report` is ignored. A connection may
ask for another lease after a report; a grader that closes its connection releases what it had.

Where namespaces are refused (`nested` False) all leases must be of one job, since its students
could leave something for each other: the launcher then replaces the box. When the control channel
ends, everything does.
"""

from __future__ import annotations

import contextlib
import os
import platform
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch

from sandbox.boxes import SHARED_FOLDER, MemoryMode
from sandbox.protocol import (
    BoxReady,
    ChannelError,
    Connection,
    ControlRequest,
    Gauge,
    Granted,
    Lease,
    LeaseRequest,
    Ping,
    Pong,
    Probe,
    Release,
    Report,
    SetMemory,
    TryMemory,
    Usage,
)
from sandbox.runner import (
    counters,
    dynamo,
    heap,
    own_tests,
    pages,
    probes,
    seccomp,
    student,
    syscalls,
    warm,
)
from sandbox.runner.confine import Surroundings
from sandbox.runner.init import Begin, Broken, Ended, Looked, Ready
from sandbox.runner.spare import Spare

MESSAGE_S = 1.0  # for the rest of a message whose start has arrived
END_S = 1.0  # for init to report after it was told to end
PROBE_S = 10.0
FAILED_SPARES = 3
MAPPINGS_BYTES = 4 << 30
MOST_BYTES = 64 << 30
PEAK_ERROR_BYTES = 16 << 20  # the kernel's count of resident pages may lag behind by some


class ZygoteFailed(Exception):
    """This box cannot make students."""


@dataclass(frozen=True)
class Mode:
    """How students of this box are confined, why, and what the hostile program found."""

    nested: bool
    reason: str
    probes: list[Probe]


def main(box_id: str, control_in_fd: int, control_out_fd: int) -> NoReturn:
    """Entry of a runner box; ends with the control channel."""
    control = Connection.over_pipes(control_in_fd, control_out_fd, 0)
    _become_zygote()
    dynamo.keep_away()
    warm.warm_up()
    student.rehearse()
    own_tests.prepare()
    heap.settle()
    pages.collapse()
    box = Surroundings.look()
    mode = find_mode(box)
    with _listening(box_id) as listener:
        zygote = Zygote(box_id, control, listener, box, mode)
        control.send(
            BoxReady(
                mode.nested, mode.reason, mode.probes, str(torch.__version__), np.__version__,
                platform.python_version(),
            )
        )  # fmt: skip
        zygote.run()
    sys.exit(0)


def _become_zygote() -> None:
    syscalls.adopt_orphans()
    syscalls.set_dumpable(False)  # same user as the students: keeps them out of our memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    seccomp.confine_box()


def _told_memory_bytes() -> int | None:
    """The launcher says so when no cgroup bounds this box's memory."""
    if os.environ.get("JUDGE_MEMORY_MODE") != MemoryMode.RLIMIT:
        return None
    return int(os.environ["JUDGE_MEMORY_BYTES"])


@contextlib.contextmanager
def _listening(box_id: str) -> Iterator[socket.socket]:
    """The socket that graders connect to: the launcher's, or else our own in the shared folder."""
    path = Path(SHARED_FOLDER, f"{box_id}.sock")
    if handed_over := os.environ.get("JUDGE_LISTENER_FD"):
        listener = socket.socket(fileno=int(handed_over))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
    listener.listen(8)
    listener.setblocking(False)
    try:
        yield listener
    finally:
        with contextlib.suppress(OSError):  # the launcher removes its own, and does not let us
            path.unlink()


def find_mode(box: Surroundings) -> Mode:
    """Try the defences, with namespaces if they can be had; raises `ZygoteFailed`."""
    found = _probe(box, nested=True)
    if isinstance(found, list):
        return Mode(True, "", found)
    reason = f"nested namespaces are refused: {found}"
    found = _probe(box, nested=False)
    if isinstance(found, list):
        return Mode(False, reason, found)
    raise ZygoteFailed(f"no student can be made: {found} ({reason})")


def _probe(box: Surroundings, *, nested: bool) -> list[Probe] | str:
    """What the hostile program found, or why it could not be started."""
    program = probes.run_nested if nested else probes.run_single
    try:
        spare = Spare(box, program, nested=nested)
    except OSError as error:
        return str(error)
    try:
        if (broken := spare.wait_ready()) is not None:
            return broken.reason
        connection = Connection(spare.connection, 0)
        results, _ = connection.receive(probes.ProbeResults, time.monotonic() + PROBE_S)
    except ChannelError as error:
        spare.end()
        ended = spare.wait_ended()
        said = spare.output().decode("utf-8", "replace")[-1500:] if ended else ""
        return [Probe("the hostile program", False, f"{error}: {ended and ended.cause} {said}")]
    else:
        return results.probes
    finally:
        spare.destroy()
        _reap_all()


class Zygote:
    """Serves leases, one at a time, until the control channel ends."""

    def __init__(
        self,
        box_id: str,
        control: Connection,
        listener: socket.socket,
        box: Surroundings,
        mode: Mode,
    ) -> None:
        self._box_id = box_id
        self._control = control
        self._listener = listener
        self._box = box
        self._mode = mode
        self._memory_bytes = _told_memory_bytes()
        self._lease: Connection | None = None
        self._wanted: Lease | None = None
        self._granted = False
        self._granted_to: Connection | None = None
        self._ending_until: float | None = None
        self._oom_kills = 0
        self._failed_spares = 0
        self._job: str | None = None
        self._spare: Spare | None = None

    def run(self) -> None:
        """Serve until there is nothing more to serve."""
        try:
            while True:
                if self._spare is None:
                    # Forked from here, where no frame holds anything of the student before.
                    self._spare = self._new_spare()
                for descriptor in self._readable():
                    self._serve(descriptor)
                if self._ending_until and time.monotonic() >= self._ending_until:
                    self._close_lease(None)
        except _ControlEnded:
            pass
        finally:
            if self._spare is not None:
                self._spare.destroy()

    def _readable(self) -> list[int]:
        poller = select.poll()
        watched = (self._control, self._spare, self._lease or self._listener)
        for source in watched:
            if source is not None:
                poller.register(source.fileno(), select.POLLIN)
        timeout_ms = None
        if self._ending_until is not None:
            timeout_ms = max(self._ending_until - time.monotonic(), 0) * 1000
        return [descriptor for descriptor, _ in poller.poll(timeout_ms)]

    def _serve(self, descriptor: int) -> None:
        # The spare first: that a student has ended matters more than what is asked of it.
        if self._spare is not None and descriptor == self._spare.fileno():
            self._hear_init(self._spare)
        elif self._lease is not None and descriptor == self._lease.fileno():
            self._hear_grader(self._lease)
        elif descriptor == self._control.fileno():
            self._hear_launcher()
        elif descriptor == self._listener.fileno() and self._lease is None:
            with contextlib.suppress(BlockingIOError):
                self._lease = Connection(self._listener.accept()[0], 0)

    # --- the launcher ---

    def _hear_launcher(self) -> None:
        try:
            deadline = time.monotonic() + MESSAGE_S
            request, _ = self._control.receive(ControlRequest, deadline)
        except ChannelError:
            raise _ControlEnded from None
        match request:
            case SetMemory(memory_bytes):
                self._memory_bytes = memory_bytes
            case TryMemory():
                self._control.send(self._try_memory())
            case Ping():
                self._control.send(Pong())

    def _try_memory(self) -> Probe:
        """One student fills the memory: it must be stopped, and this process must not."""
        name = "memory limit"
        if self._granted:
            return Probe(name, False, "not tried: a student is at work")
        before = counters.oom_kills() or 0
        try:
            spare = Spare(self._box, probes.fill_memory, nested=self._mode.nested)
        except OSError as error:
            return Probe(name, False, str(error))
        try:
            if (broken := spare.wait_ready()) is not None:
                return Probe(name, False, broken.reason)
            spare.begin(Begin(60.0, 1 << 20, self._address_space_bytes()))
            spare.connection.close()
            ended = spare.wait_ended()
            said = spare.output() if ended else b""
        finally:
            spare.destroy()
            _reap_all()
        return _memory_probe(name, ended, said, (counters.oom_kills() or 0) - before)

    def _address_space_bytes(self) -> int:
        """How much a student may map.

        Where no cgroup bounds memory, that is as much as the box has beyond ourselves. Where one
        does, it is far more than can be used, and only bounds the page tables: the kernel takes
        seconds to take apart those of a process that mapped libraries a thousand times.
        """
        address_space_bytes, resident_bytes = counters.own_memory_bytes()
        if self._memory_bytes is not None:
            return address_space_bytes + max(self._memory_bytes - resident_bytes, 0)
        limit_bytes = min(counters.memory_limit() or MOST_BYTES, MOST_BYTES)
        return address_space_bytes + MAPPINGS_BYTES + 2 * limit_bytes

    # --- the grader ---

    def _hear_grader(self, lease: Connection) -> None:
        try:
            deadline = time.monotonic() + MESSAGE_S
            request, _ = lease.receive(LeaseRequest, deadline)
        except ChannelError:
            self._forget_grader(lease)
            return
        match request:
            case Lease():  # granted when there is a spare, maybe after another's student has ended
                self._wanted = request
                self._grant_if_ready()
            case Gauge(closely):  # else it has ended, and its report is on the way
                if self._granted and self._spare is not None:
                    self._spare.look(closely=closely)
            case Release() if self._granted:
                self._end_student()
            case Release():  # crossed the report, or nothing was granted yet
                self._wanted = None

    def _grant_if_ready(self) -> None:
        spare, lease, wanted = self._spare, self._lease, self._wanted
        if spare is None or lease is None or wanted is None or self._granted or not spare.ready:
            return
        if not self._mode.nested and self._job not in (None, wanted.job):
            self._forget_grader(lease)
            return
        self._job = wanted.job
        self._wanted, self._granted, self._granted_to = None, True, lease
        self._oom_kills = counters.oom_kills() or 0
        spare.begin(Begin(wanted.cpu_s, wanted.output_bytes, self._address_space_bytes()))
        try:
            handed = [spare.connection.fileno(), spare.printed.fileno()]
            lease.send_with_descriptors(Granted(self._box_id), handed)
            self._failed_spares = 0
        except (ChannelError, OSError):
            self._forget_grader(lease)
        spare.hand_over()

    def _forget_grader(self, lease: Connection) -> None:
        lease.close()
        self._lease = self._wanted = self._granted_to = None
        if self._granted:
            self._end_student()

    def _end_student(self) -> None:
        if self._spare is not None and self._ending_until is None:
            self._spare.end()
            self._ending_until = time.monotonic() + END_S

    # --- init ---

    def _hear_init(self, spare: Spare) -> None:
        match spare.receive():
            case Broken(reason):
                self._replace_broken(reason)
            case Ended() as ended:
                self._close_lease(ended)
            case None:
                self._close_lease(None)
            case Looked(cpu_ms, memory_bytes, peak_memory_bytes):
                self._tell_usage(Usage(cpu_ms, memory_bytes, peak_memory_bytes))
            case Ready():
                self._grant_if_ready()

    def _tell_usage(self, usage: Usage) -> None:
        if self._granted_to is None:
            return
        try:
            self._granted_to.send(usage, deadline=time.monotonic() + MESSAGE_S)
        except ChannelError:
            self._forget_grader(self._granted_to)

    def _close_lease(self, ended: Ended | None) -> None:
        """The student has ended, or its init has gone or is silent: report, and start anew."""
        spare, self._spare = self._spare, None
        if ended is None and spare is not None:
            spare.kill()  # taking apart what it had may take long; nobody need wait for that
        if self._granted_to is not None:
            report = _report(ended, killed_for_memory=self._killed_for_memory(ended))
            try:
                self._granted_to.send(report, deadline=time.monotonic() + MESSAGE_S)
            except ChannelError:
                self._granted_to.close()
                self._lease = self._wanted = None
        elif not self._granted:
            self._count_failure("a spare ended before it was used")
        self._granted, self._granted_to, self._ending_until = False, None, None
        if spare is not None:
            spare.destroy()
        _reap_all()

    def _killed_for_memory(self, ended: Ended | None) -> bool:
        """Whether a SIGKILL of this lease was for memory: the kernel counts them, or it is full.

        Where no cgroup counts, a watchdog outside kills students beyond the box's memory.
        """
        if self._memory_bytes is None:
            return (counters.oom_kills() or 0) > self._oom_kills
        return ended is not None and ended.peak_memory_bytes > self._memory_bytes - PEAK_ERROR_BYTES

    def _replace_broken(self, reason: str) -> None:
        self._count_failure(reason)
        if self._spare is not None:
            self._spare.destroy()
        self._spare = None
        _reap_all()

    def _count_failure(self, reason: str) -> None:
        self._failed_spares += 1
        print(f"a student could not be made: {reason}", file=sys.stderr, flush=True)
        if self._failed_spares >= FAILED_SPARES:
            raise ZygoteFailed(reason)

    def _new_spare(self) -> Spare:
        return Spare(self._box, student.serve, nested=self._mode.nested)


class _ControlEnded(Exception):
    """The launcher is gone."""


def _report(ended: Ended | None, *, killed_for_memory: bool) -> Report:
    if ended is None:  # init was killed, or is silent: its student has died with it
        return Report(
            "memory" if killed_for_memory else "signalled", 0, signal.SIGKILL, True, 0.0, 0
        )
    # Also when we killed it too: freeing what a killed process had takes time, CPU time even.
    by_kernel = ended.cause != "output" and ended.signal == signal.SIGKILL
    return Report(
        ended="memory" if by_kernel and killed_for_memory else ended.cause,
        code=ended.code,
        signal=ended.signal,
        output_truncated=ended.output_truncated,
        cpu_ms=ended.cpu_ms,
        peak_memory_bytes=ended.peak_memory_bytes,
    )


def _memory_probe(name: str, ended: Ended | None, said: bytes, oom_kills: int) -> Probe:
    if ended is None:
        return Probe(name, False, "init was killed together with the student")
    by_kernel = ended.signal == signal.SIGKILL and oom_kills > 0
    by_limit = ended.cause == "exited" and b"MemoryError" in said
    what = "killed by the kernel" if by_kernel else f"{ended.cause} {ended.signal or ended.code}"
    return Probe(name, by_kernel or by_limit, f"{what} at {ended.peak_memory_bytes >> 20} MiB")


def _reap_all() -> None:
    """Reap every orphan; as the first process of the box nobody else does."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
