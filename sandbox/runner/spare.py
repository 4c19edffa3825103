"""The zygote's handle on one pair of init and student, from fork to reaping."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import traceback
from typing import NoReturn

from sandbox.runner import init, syscalls
from sandbox.runner.confine import NAMESPACES, Surroundings
from sandbox.runner.init import Begin, Broken, End, Ended, FromInit, Link, Look, Program, Ready


class Spare:
    """A pair, prepared ahead of the lease that will use it.

    `connection` is the grader's end of the student's connection, and `printed` that of what the
    student printed, until they are handed over.
    Construction raises OSError where the namespaces are refused.
    """

    def __init__(self, box: Surroundings, program: Program, *, nested: bool) -> None:
        self.ready = False
        self.connection, student_end = socket.socketpair()
        self.printed, printed_end = socket.socketpair()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._link = Link(ours)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            self.pid = syscalls.fork_into(NAMESPACES) if nested else os.fork()
            if self.pid == 0:
                ends = theirs.fileno(), student_end.fileno(), printed_end.fileno()
                _be_init(ends, box, program, nested=nested)
        except OSError:
            self.connection.close()
            self.printed.close()
            ours.close()
            raise
        finally:
            theirs.close()
            student_end.close()
            printed_end.close()

    def fileno(self) -> int:
        """Descriptor that becomes readable when init has something to say."""
        return self._link.socket.fileno()

    def receive(self) -> FromInit | None:
        """The next message of init, None when it is gone."""
        message = self._link.receive_from_init()
        self.ready = self.ready or isinstance(message, Ready)
        return message

    def wait_ready(self) -> Broken | None:
        """Block until the student waits for its first request; else why there is none."""
        message = self.receive()
        if isinstance(message, Ready):
            return None
        return message if isinstance(message, Broken) else Broken(f"init said {message}")

    def wait_ended(self) -> Ended | None:
        """Block until the student has ended, or been killed; None when init went first."""
        while (message := self.receive()) is not None:
            if isinstance(message, Ended):
                return message
        return None

    def output(self) -> bytes:
        """What a program of our own printed, after it has ended."""
        parts = []
        while part := self.printed.recv(1 << 16):
            parts.append(part)
        return b"".join(parts)

    def hand_over(self) -> None:
        """Close what was handed to the grader."""
        self.connection.close()
        self.printed.close()

    def begin(self, limits: Begin) -> None:
        """Set the limits; the student's use counts from here."""
        self._link.send(limits)

    def look(self, *, closely: bool) -> None:
        """Ask init what the student has used; `Looked` follows, unless it has ended."""
        self._link.send(Look(closely))

    def end(self) -> None:
        """Ask init to kill the student; `Ended` follows."""
        self._link.send(End())

    def kill(self) -> None:
        """Kill whatever is left of the pair, without waiting. Harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def destroy(self) -> None:
        """Kill and reap whatever is left of the pair. Harmless when it has ended."""
        self.kill()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self._link.socket.close()
        self.hand_over()


def _be_init(
    ends: tuple[int, int, int], box: Surroundings, program: Program, *, nested: bool
) -> NoReturn:
    """Whatever happens, nothing of the zygote's code runs on in this process."""
    exit_now = os._exit
    try:
        init.run(*ends, box, program, nested=nested)
    except BaseException:  # noqa: BLE001  # the border of a process: there is nobody above
        traceback.print_exc()
    finally:
        exit_now(1)
