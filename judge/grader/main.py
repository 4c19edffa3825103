"""The grader box: opens problems, hands out jobs, passes their events on.

One process listens to the control channel and to everything it started. A problem version is a
paused session (`judge.grader.session`) in a process of its own; a job is a fork of that session,
with a socket of its own, so that the events of concurrent jobs never mix. This process decodes no
event and runs no problem code.
"""

from __future__ import annotations

import contextlib
import os
import platform
import selectors
import shutil
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import torch

from judge.grader import session
from judge.grader.messages import (
    REHEARSAL_FACTOR,
    ChildEvent,
    ChildLostRunner,
    ChildStarted,
    CloseProblem,
    FromChild,
    FromSession,
    GraderReady,
    Job,
    JobEvent,
    JobLost,
    OpenProblem,
    Ping,
    Pong,
    ProblemBroken,
    ProblemOpened,
    ProblemPack,
    SessionBroken,
    SessionOpened,
    StartJob,
    ToGrader,
)
from sandbox.protocol import MAX_ARGUMENT_BYTES, Connection, ConnectionLost
from sandbox.runner import dynamo, heap, pages, seccomp

PROBLEMS_FOLDER = Path("/tmp/problems")  # noqa: S108  # the box's private tmpfs
# A job may wait for the runner once per tier, and its checks may think as long again.
_PATIENCE_FACTOR = 3.0
_PATIENCE_S = 60.0
OPEN_PATIENCE_S = 20.0
_TICK_S = 1.0


@dataclass
class _Session:
    """A paused session: where to send jobs, and those that came before it was ready."""

    link: Connection
    pid: int
    deadline: float
    opened: bool = False
    waiting: list[bytes] = field(default_factory=list)


@dataclass
class _Child:
    """A job under way."""

    job_id: str
    link: Connection
    deadline: float
    pid: int | None = None
    started: float = 0.0


class Grader:
    """The multiplexer. Everything it knows is what is open and what is under way."""

    def __init__(self, control: Connection) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._sessions: dict[str, _Session] = {}
        self._children: dict[str, _Child] = {}

    def serve(self) -> None:
        """Run until the control channel closes."""
        self._selector.register(self._control, selectors.EVENT_READ, self._on_control)
        try:
            while True:
                for key, _ in self._selector.select(_TICK_S):
                    handle: Callable[[], None] = key.data
                    handle()
                self._end_overdue_jobs()
                self._end_overdue_sessions()
        except ConnectionLost:
            return

    # --- from the launcher -------------------------------------------------------------------

    def _on_control(self) -> None:
        message, payload = self._control.receive(ToGrader)
        match message:
            case OpenProblem():
                self._open(msgspec.msgpack.decode(payload, type=ProblemPack))
            case CloseProblem(version):
                self._close(version)
            case StartJob():
                self._start(bytes(payload))
            case Ping(id=key):
                self._control.send(Pong(key))

    def _open(self, pack: ProblemPack) -> None:
        folder = PROBLEMS_FOLDER / pack.version
        for name, content in pack.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self._become_session(pack, folder, theirs)
        theirs.close()
        link = Connection(ours, MAX_ARGUMENT_BYTES)
        opened = _Session(link, pid, time.monotonic() + OPEN_PATIENCE_S)
        self._sessions[pack.version] = opened
        self._selector.register(
            ours, selectors.EVENT_READ, lambda: self._on_session(pack.version, opened)
        )

    def _close(self, version: str) -> None:
        known = self._sessions.get(version)
        if known is None:  # it broke meanwhile
            return
        self._forget_session(version, known, "its problem version was closed")
        _kill(known.pid)
        shutil.rmtree(PROBLEMS_FOLDER / version, ignore_errors=True)

    def _become_session(self, pack: ProblemPack, folder: Path, link: socket.socket) -> None:
        status = 1
        try:
            self._selector.close()
            jobs = [child.link for child in self._children.values()]
            sessions = [other.link for other in self._sessions.values()]
            for inherited in (self._control, *jobs, *sessions):
                inherited.close()
            session.main(pack, folder, Connection(link, MAX_ARGUMENT_BYTES))
            status = 0
        finally:
            os._exit(status)

    def _start(self, encoded: bytes) -> None:
        job = msgspec.msgpack.decode(encoded, type=Job)
        known = self._sessions.get(job.version)
        if known is None:
            self._control.send(JobLost(job.id, "its problem version is not open"))
        elif known.opened:
            self._fork_job(known, job, encoded)
        else:
            known.waiting.append(encoded)

    def _fork_job(self, known: _Session, job: Job, encoded: bytes) -> None:
        ours, theirs = socket.socketpair()
        link = Connection(ours, MAX_ARGUMENT_BYTES)
        now = time.monotonic()
        patience_s = _PATIENCE_S + _PATIENCE_FACTOR * job.limits.wall_s * job.tiers
        if job.rehearsal is not None:
            patience_s = REHEARSAL_FACTOR * job.rehearsal.budget_s
        child = _Child(job.id, link, now + patience_s, started=now)
        self._children[job.id] = child
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._on_child(child))
        try:
            known.link.send_with_descriptors(StartJob(job.id), [theirs.fileno()])
            link.send(StartJob(job.id), [encoded])
        except ConnectionLost:
            self._end_job(child, "the process that holds its checks ended")
        finally:
            theirs.close()

    # --- from sessions and jobs ----------------------------------------------------------------

    def _on_session(self, version: str, opened: _Session) -> None:
        try:
            message, _ = opened.link.receive(FromSession)
        except ConnectionLost:
            message = SessionBroken("problem.toml", 1, "the process that held its checks ended")
        match message:
            case SessionOpened(checks):
                opened.opened = True
                self._control.send(ProblemOpened(version, checks))
                for encoded in opened.waiting:
                    self._start(encoded)
                opened.waiting.clear()
            case SessionBroken():
                self._break_session(version, opened, message)

    def _break_session(self, version: str, opened: _Session, broken: SessionBroken) -> None:
        self._control.send(ProblemBroken(version, broken.file, broken.line, broken.message))
        self._forget_session(version, opened, "its problem could not be opened")

    def _forget_session(self, version: str, known: _Session, reason: str) -> None:
        self._selector.unregister(known.link)
        known.link.close()
        self._sessions.pop(version, None)
        for encoded in known.waiting:
            job = msgspec.msgpack.decode(encoded, type=Job)
            self._control.send(JobLost(job.id, reason))

    def _on_child(self, child: _Child) -> None:
        try:
            message, payload = child.link.receive(FromChild)
        except ConnectionLost:
            self._forget(child)
            self._control.send(JobLost(child.job_id, "the process that judged it ended"))
            return
        match message:
            case ChildStarted(pid):
                child.pid = pid
            case ChildLostRunner(reason):
                self._forget(child)
                self._control.send(JobLost(child.job_id, reason, by_runner=True))
            case ChildEvent(last):
                self._control.send(JobEvent(child.job_id, last=last), [payload])
                if last:
                    self._forget(child)

    def _end_overdue_jobs(self) -> None:
        now = time.monotonic()
        for child in list(self._children.values()):
            if now > child.deadline:
                self._end_job(child, "judging it took far longer than its limits allow")

    def _end_overdue_sessions(self) -> None:
        now = time.monotonic()
        for version, opening in list(self._sessions.items()):
            if not opening.opened and now > opening.deadline:
                _kill(opening.pid)
                message = f"its checks were not collected within {OPEN_PATIENCE_S:g} s"
                self._break_session(version, opening, SessionBroken("problem.toml", 1, message))

    def _end_job(self, child: _Child, reason: str) -> None:
        self._forget(child)
        self._control.send(JobLost(child.job_id, reason))

    def _forget(self, child: _Child) -> None:
        """Of a job that has said its last, or is to: end it and all that it started."""
        if child.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        self._selector.unregister(child.link)
        child.link.close()
        self._children.pop(child.job_id, None)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _warm_up() -> None:
    """Everything lazy that checks use, once, before any fork."""
    torch.set_num_threads(1)
    for dtype in (torch.float64, torch.float32):
        x = torch.ones(2, 3, 3, dtype=dtype, requires_grad=True)
        y = torch.softmax((x @ x.mT).masked_fill(x.detach() < 0, 0.0), dim=-1)
        torch.autograd.grad([y, y * 2], [x], [torch.ones_like(y), torch.ones_like(y)])
        torch.nn.functional.scaled_dot_product_attention(x, x, x)
    np.ones((2, 2)) @ np.ones((2, 2))
    np.random.get_state()  # imported when it is first asked for


def main(box_id: str, control_in_fd: int, control_out_fd: int) -> None:
    """Entry point inside the box."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps sessions
    seccomp.confine_box()
    dynamo.keep_away()
    _warm_up()
    heap.settle()
    pages.collapse()
    control = Connection.over_pipes(control_in_fd, control_out_fd, MAX_ARGUMENT_BYTES)
    control.send(
        GraderReady(box_id, str(torch.__version__), np.__version__, platform.python_version())
    )
    Grader(control).serve()
