"""The grader's part in tests of a runner: leases a student and asks it things."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.arrays import encode_arguments
from sandbox.boxes import Box, BoxSpec, Launcher, Role, SharedDir
from sandbox.bwrap_boxes import BwrapSharedDir
from sandbox.protocol import (
    MAX_RESULT_BYTES,
    Backward,
    Call,
    ChannelError,
    Connection,
    Describe,
    Granted,
    Lease,
    Load,
    Loaded,
    Release,
    Reply,
    Report,
    Request,
    Setting,
)

PATIENCE_S = 20.0
MEMORY_BYTES = 512 << 20
SPEC = BoxSpec(Role.RUNNER, "sandbox.runner.zygote", ("sandbox",), MEMORY_BYTES, 256, 2.0, 64 << 20)


@contextmanager
def runner_box(launcher: Launcher, shared: SharedDir) -> Iterator[Box]:
    """A runner that is warm; killed afterwards."""
    box = launcher.launch(SPEC, shared)
    try:
        try:
            box.wait_ready(soon(60))
        except ChannelError:
            pytest.fail(f"the box did not start:\n{box.diagnostics()}")
        yield box
    finally:
        box.kill()


def soon(seconds: float = PATIENCE_S) -> float:
    return time.monotonic() + seconds


class Grader:
    """A connection to a runner's socket, over which students are leased one after the other."""

    def __init__(self, box: Box, shared: SharedDir) -> None:
        assert isinstance(shared, BwrapSharedDir)
        # The folder's own path may be longer than a socket's name can be.
        folder = os.open(shared.path, os.O_PATH)
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(str(Path(f"/proc/self/fd/{folder}", f"{box.id}.sock")))
        os.close(folder)
        self.lease = Connection(sock, 0)
        self.opened = [self.lease]
        self._outputs: list[socket.socket] = []

    def take(self, cpu_s: float = 10.0, output_bytes: int = 1 << 20) -> Student:
        self.lease.send(Lease(cpu_s, output_bytes))
        _, descriptors = self.lease.receive_with_descriptors(Granted, 2, soon())
        connection = Connection(socket.socket(fileno=descriptors[0]), MAX_RESULT_BYTES)
        self.opened.append(connection)
        self._outputs.append(socket.socket(fileno=descriptors[1]))
        return Student(connection)

    def printed(self) -> bytes:
        """What the latest student printed; after its report."""
        parts = []
        while part := self._outputs[-1].recv(1 << 16):
            parts.append(part)
        return b"".join(parts)

    def report(self) -> Report:
        return self.lease.receive(Report, soon())[0]

    def release(self) -> Report:
        self.lease.send(Release())
        return self.report()

    def close(self) -> None:
        for connection in self.opened:
            connection.close()
        for output in self._outputs:
            output.close()


class Student:
    """The other end is one confined child."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def ask(self, request: Request, buffers: list[bytes]) -> Reply:
        self.connection.send(request, buffers, soon())
        reply: Reply = self.connection.receive(Reply, soon())[0]
        return reply

    def load(self, source: str, provided: str | None = None, **others: str) -> Reply:
        files = {f"{name}.py": text.encode() for name, text in others.items()}
        given = provided.encode() if provided is not None else None
        setting = Setting("solution.py", provided=given)
        return self.ask(Load({"solution.py": source.encode(), **files}, setting, 1), [])

    def loaded(self, source: str) -> Student:
        reply = self.load(source)
        assert isinstance(reply, Loaded), reply
        return self

    def call(self, *arguments: object, function: str = "f", call_id: int = 1) -> Reply:
        sent = encode_arguments(arguments)
        sizes = [len(buffer) for buffer in sent.buffers]
        call = Call(call_id, function, sent.args, sent.kwargs, sent.views, sizes)
        return self.ask(call, sent.buffers)

    def backward(self, call_id: int, cotangents: list[object], inputs: list[int]) -> Reply:
        sent = encode_arguments(cotangents)
        sizes = [len(buffer) for buffer in sent.buffers]
        outputs = list(range(len(cotangents)))
        return self.ask(Backward(99, call_id, outputs, sent.views, inputs, sizes), sent.buffers)

    def describe(self, name: str) -> Reply:
        return self.ask(Describe(7, name), [])
