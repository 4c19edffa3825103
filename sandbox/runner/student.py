"""The process that holds submitted code: loads it and answers on its one connection.

Everything here runs beside the submission and may be tampered with by it; nothing of it is
trusted by the other side. It is careful all the same, so that an honest mistake is described well.
"""

from __future__ import annotations

import contextlib
import inspect
import mmap
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec
import numpy as np
import torch

from sandbox.arrays import (
    DecodedArguments,
    EncodedResult,
    encode_arguments,
    encode_gradients,
    encode_result,
)
from sandbox.protocol import (
    MAX_ARGUMENT_BYTES,
    MAX_HEADER_BYTES,
    MAX_RESULT_BYTES,
    PREFIX,
    Backward,
    Buffer,
    Call,
    ChannelError,
    Connection,
    ConnectionLost,
    Describe,
    Described,
    Execute,
    Executed,
    Failure,
    Gradients,
    Load,
    Loaded,
    LoadFailed,
    Parameter,
    Raised,
    Refused,
    Reply,
    Request,
    Returned,
    RuleBroken,
    RunTests,
    Setting,
    decoder_of,
)
from sandbox.runner import warm
from sandbox.runner.calls import make_call
from sandbox.runner.confine import STACK_BYTES
from sandbox.runner.failures import bounded_text, describe_exception, frames_from
from sandbox.runner.forbidden import find, guard
from sandbox.runner.generators import seed_generators
from sandbox.runner.init import announce_ready
from sandbox.runner.loading import CompileRefused, Names, Submission
from sandbox.runner.own_tests import run_own_tests

MAX_NAMES = 256
RESERVE_BYTES = 8 << 20  # of address space, to which nothing is ever written
MAX_NAME_CHARS = 256
MAX_PARAMETERS = 256
Answer = tuple[Reply, Sequence[Buffer]]

# Kept from before the submission runs, which may replace the public names.
_grad: Callable[..., tuple[torch.Tensor | None, ...]] = torch.autograd.grad
_signature = inspect.signature
_exit = os._exit
_current_frame = sys._getframe  # noqa: SLF001  # the public way formats every frame
_STREAMS = (sys.stdout, sys.stderr)
# What is said where memory cannot be had, by kind of exception.
MEMORY_WORDS = {
    "RuntimeError": ("DefaultCPUAllocator: can't allocate memory", "std::bad_alloc"),  # torch
    "OSError": ("[Errno 12]",),
    "ImportError": ("failed to map segment from shared object", "cannot map zero-fill pages"),
}
_REHEARSAL = b"""
def rehearse(x, scale):
    return x * scale, {"sum": x.sum()}
"""


def serve(sock: socket.socket) -> None:
    """Answer requests until the other side closes the connection."""
    rehearse()
    connection = Connection(sock, MAX_ARGUMENT_BYTES)
    student = Student(connection)
    announce_ready()
    try:
        while True:
            request, payload = connection.receive(Request)
            reply, buffers = student.answer(request, payload)
            _flush()
            _send(connection, reply, buffers)
    except ChannelError:
        return


def rehearse() -> None:
    """Everything of one small submission once, so that the first real one finds it warm."""
    warm.touch()
    student = Student()
    load = Load({"rehearsal.py": _REHEARSAL}, Setting("rehearsal.py"), 0)
    student.answer(load, memoryview(b""))
    for x in (torch.ones(2, 3, requires_grad=True), np.ones((2, 3))):
        sent = encode_arguments([x], {"scale": 2.0})
        sizes = [len(buffer) for buffer in sent.buffers]
        call = Call(1, "rehearse", sent.args, sent.kwargs, sent.views, sizes)
        reply, _ = student.answer(*_through_a_frame(call, sent.buffers))
        if isinstance(x, torch.Tensor):
            cotangents = encode_arguments([torch.ones(2, 3)])
            views, sizes = cotangents.views, [len(buffer) for buffer in cotangents.buffers]
            student.answer(
                *_through_a_frame(Backward(2, 1, [0], views, [0], sizes), cotangents.buffers)
            )
        msgspec.msgpack.encode(reply)
        _flush()
    student.answer(Describe(3, "rehearse"), memoryview(b""))
    student.unload()


def _through_a_frame(request: Request, buffers: Sequence[Buffer]) -> tuple[Request, memoryview]:
    header = msgspec.msgpack.encode(request)
    return decoder_of(Request).decode(header), memoryview(b"".join(buffers))


@dataclass
class _Graph:
    """What a backward pass needs of an earlier call."""

    leaves: Sequence[object]
    results: list[object]


@dataclass
class Student:
    """One loaded submission and the autograd graphs of its calls.

    `connection` is where it says what cannot wait for an answer: that a rule is broken, which ends
    the process, and how each of a student's own tests has ended.
    """

    connection: Connection | None = None
    names: Names = field(default_factory=dict)
    sources: Mapping[str, bytes] = field(default_factory=dict)
    submission: Submission | None = None
    graphs: dict[int, _Graph] = field(default_factory=dict)
    reserve: mmap.mmap | None = None

    def answer(self, request: Request, payload: memoryview) -> Answer:
        """One reply and its buffers; whatever submitted code raises becomes part of the reply."""
        if self.reserve is None:
            with contextlib.suppress(OSError, MemoryError):
                self.reserve = mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        match request:
            case Load():
                return self._load(request), ()
            case Describe():
                return self._describe(request), ()
            case Call():
                return self._guarded(request, payload)
            case Backward():
                return self._guarded(request, payload)
            case Execute():
                return self._execute(request), ()
            case RunTests():
                return self._run_tests(request), ()

    def _load(self, request: Load) -> Reply:
        seed_generators(request.seed)
        try:
            self.submission = Submission(request.files, request.setting)
        except CompileRefused as refused:
            return LoadFailed("compile", refused.failure)
        self.sources = self.submission.sources
        forbidden = request.setting.forbidden
        if (use := find(self.sources, forbidden)) is not None:
            return RuleBroken(use.rule, [use.frame])
        guard(forbidden, self._rule_broken)
        try:
            self.names = self.submission.install()
            return Loaded(list(_public_callables(self.names)))
        except BaseException as error:  # noqa: BLE001  # SystemExit is a way to fail, too
            return LoadFailed("import", self._failure(error))

    def _rule_broken(self, rule: int) -> NoReturn:
        """Say so and end, wherever in the submission this is called from."""
        try:
            if self.connection is not None:
                frames = frames_from(_current_frame(), self.sources)
                self.connection.send(RuleBroken(rule, frames))
        finally:
            _exit(0)

    def unload(self) -> None:
        """Make the modules of the submission disappear; only for a rehearsal."""
        if self.submission is not None:
            self.submission.uninstall()

    def _execute(self, request: Execute) -> Reply:
        self.sources = {**self.sources, request.file: request.source}
        try:
            if self.submission is not None:
                self.submission.execute(request.file, request.source)
        except CompileRefused as refused:
            return Refused(request.id, refused.failure)
        except BaseException as error:  # noqa: BLE001  # SystemExit is a way to fail, too
            return Raised(request.id, self._failure(error))
        return Executed(request.id)

    def _run_tests(self, request: RunTests) -> Reply:
        """Run tests on what was loaded, whose own lines appear in no traceback from now on."""
        self.sources = dict(request.files)
        return run_own_tests(request, self._tell, self._failure)

    def _tell(self, reply: Reply) -> None:
        if self.connection is not None:
            self.connection.send(reply)

    def _guarded(self, request: Call | Backward, payload: memoryview) -> Answer:
        try:
            if isinstance(request, Call):
                return self._call(request, payload)
            return self._backward(request, payload)
        except BaseException as error:  # noqa: BLE001  # SystemExit is a way to fail, too
            return Raised(request.id, self._failure(error)), ()

    def _call(self, request: Call, payload: memoryview) -> Answer:
        if request.forget:
            self.graphs.clear()
        sent = DecodedArguments(request.views, request.buffers, payload)
        called = make_call(self.names, request, sent)
        result = encode_result(called.value)
        self.graphs[request.id] = _Graph(called.leaves, result.tensors)
        return _returned(request.id, result, sent)

    def _backward(self, request: Backward, payload: memoryview) -> Answer:
        graph = self.graphs[request.call]
        sent = DecodedArguments(request.cotangents, request.buffers, payload)
        gradients = _grad(
            [graph.results[index] for index in request.outputs],
            [graph.leaves[index] for index in request.inputs],
            sent.leaves,
            retain_graph=True,  # a check may go backward through one call several times
            allow_unused=True,
        )
        present, arrays, buffers = encode_gradients(gradients)
        return Gradients(request.id, present, arrays), buffers

    def _describe(self, request: Describe) -> Reply:
        value = self.names.get(request.name)
        try:
            parameters = list(_parameters(value)) if callable(value) else None
        except BaseException:  # noqa: BLE001  # __signature__ and friends may be the submission's
            parameters = None
        return Described(request.id, request.name in self.names, callable(value), parameters)

    def _failure(self, error: BaseException) -> Failure:
        if self.reserve is not None:  # now there is memory to say that there is none
            self.reserve.close()
            self.reserve = None
        failure = describe_exception(error, self.sources)
        if is_for_memory(failure.kind, failure.message):
            bases = ["MemoryError", "Exception", "BaseException"]
            return msgspec.structs.replace(failure, kind="MemoryError", bases=bases)
        return failure


def is_for_memory(kind: str, message: str) -> bool:
    """Whether an exception is another way to say MemoryError; decided here and nowhere else."""
    if kind == "RuntimeError" and "can't start new thread" in message:
        return not _has_room_for_a_stack()  # else there are too many threads
    return any(words in message for words in MEMORY_WORDS.get(kind, ()))


def _has_room_for_a_stack() -> bool:
    """Whether there was room for one before the reserve was given up."""
    try:
        mmap.mmap(-1, STACK_BYTES + RESERVE_BYTES).close()
    except (OSError, ValueError):
        return False
    return True


def _returned(call_id: int, result: EncodedResult, sent: DecodedArguments) -> Answer:
    changed = sent.changed_buffers()
    buffers = [*result.buffers, *(sent.buffer(index) for index in changed)]
    return Returned(call_id, result.value, result.arrays, changed), buffers


def _public_callables(names: Names) -> Iterator[str]:
    public = [
        name
        for name, value in names.items()
        if type(name) is str and not name.startswith("_") and callable(value)
    ]
    for name in public[-MAX_NAMES:]:  # its own come after those of a star import
        yield bounded_text(name, MAX_NAME_CHARS)


def _parameters(function: object) -> Iterator[Parameter]:
    parameters = _signature(function).parameters.values()  # type: ignore[arg-type]  # is callable
    for parameter in list(parameters)[:MAX_PARAMETERS]:
        name = bounded_text(parameter.name, MAX_NAME_CHARS)
        has_default = parameter.default is not inspect.Parameter.empty
        yield Parameter(name, parameter.kind.name, has_default)  # type: ignore[arg-type]  # of five


def _send(connection: Connection, reply: Reply, buffers: Sequence[Buffer]) -> None:
    """Send a reply; of one that is too large only the announcement.

    The other side refuses it by its announced size, so the sizes are true and nothing follows.
    """
    header = msgspec.msgpack.encode(reply)
    payload_bytes = sum(memoryview(buffer).nbytes for buffer in buffers)
    if len(header) <= MAX_HEADER_BYTES and payload_bytes <= MAX_RESULT_BYTES:
        connection.send(reply, buffers)
        return
    try:
        os.write(connection.fileno(), PREFIX.pack(len(header), payload_bytes))
    except OSError as error:
        raise ConnectionLost(str(error)) from None


def _flush() -> None:
    """So that what was printed before an answer is there before the answer."""
    for stream in {id(stream): stream for stream in (*_STREAMS, sys.stdout, sys.stderr)}.values():
        with contextlib.suppress(BaseException):  # closed, or the submission's own
            stream.flush()
