"""Frames and messages between the boxes, and between a box and the process that launched it.

Theory of operation
-------------------
One frame is a fixed prefix (header length, payload length), a header (one msgpack message of a
declared type) and a payload (raw bytes of arrays, back to back). Both lengths are compared with
their bound *before* anything is allocated. A header is decoded by msgspec against an exact type
with bounds, so what comes out is either a well-formed message or a `ProtocolError`; nothing is
ever unpickled and no type is looked up by name.

Arrays travel in two forms. Towards the submission they are `View`s: dtype, shape, strides and an
offset into a shared buffer, so that a non-contiguous or aliased input really is one over there.
From the submission they are `Dense`: contiguous, in order, their sizes adding up to exactly the
payload. Strides coming back are refused by construction, because eight bytes with stride zero
could claim a terabyte.

Exceptions, by who is at fault::

    ChannelError
    +-- ProtocolError     the peer sent something that is not a frame of this protocol
    |   +-- TooLarge      ... because it is larger than its bound
    +-- ConnectionLost    the peer is gone
    +-- DeadlinePassed    the peer did not answer, or did not read, in time
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, overload

import msgspec
from msgspec import Meta, Struct

PREFIX = struct.Struct(">IQ")  # header bytes, payload bytes
MAX_HEADER_BYTES = 1 << 20
MAX_ARGUMENT_BYTES = 1 << 28
MAX_RESULT_BYTES = 1 << 26
MAX_ARRAYS = 1024
MAX_DIMENSIONS = 32
MAX_MESSAGE_CHARS = 2048
MAX_NESTING = 32
MAX_LINE = 1 << 20
MAX_TESTS = 256
CALL = ""  # as the method of an instance: call the object itself
STATE = "state_dict"  # ... whatever mapping it returns, as a dict

_JOINED_BYTES = 1 << 18

T = TypeVar("T")
Buffer = bytes | bytearray | memoryview


class ChannelError(Exception):
    """Something went wrong on a connection; the subclass says on whose side."""


class ProtocolError(ChannelError):
    """The peer sent bytes that are not a frame of this protocol."""


class TooLarge(ProtocolError):
    """The peer announced a frame larger than its bound; nothing was allocated for it."""


class ConnectionLost(ChannelError):
    """The peer closed the connection, also in the middle of a frame."""


class DeadlinePassed(ChannelError):
    """The peer did not answer, or did not take our bytes, before the deadline."""


# --- values ---------------------------------------------------------------------------------

Name = Annotated[str, Meta(max_length=256)]
Text = Annotated[str, Meta(max_length=MAX_MESSAGE_CHARS)]
Line = Annotated[int, Meta(ge=0, le=MAX_LINE)]
Size = Annotated[int, Meta(ge=0, le=1 << 40)]
Shape = Annotated[tuple[Size, ...], Meta(max_length=MAX_DIMENSIONS)]
Strides = Annotated[tuple[int, ...], Meta(max_length=MAX_DIMENSIONS)]


class View(Struct, frozen=True):
    """An array on its way to the submission, as a window on one of the frame's buffers.

    `strides` and `offset` count elements for torch and bytes for numpy, as each library does.
    """

    kind: Literal["torch", "numpy"]
    dtype: Name
    shape: Shape
    strides: Strides
    offset: Size
    buffer: Annotated[int, Meta(ge=0, le=MAX_ARRAYS)]
    requires_grad: bool = False


class Dense(Struct, frozen=True):
    """An array on its way back: C-contiguous, the next bytes of the payload are its elements."""

    kind: Literal["torch", "numpy", "numpy-scalar"]
    dtype: Name
    shape: Shape
    requires_grad: bool = False


class Ref(Struct, frozen=True, tag="ref"):
    """The place of an array inside a value: an index into the message's list of arrays."""

    index: Annotated[int, Meta(ge=0, lt=MAX_ARRAYS)]


class Items(Struct, frozen=True, tag="items"):
    """A tuple or a list."""

    kind: Literal["tuple", "list"]
    items: Annotated[list[Value], Meta(max_length=MAX_ARRAYS)]


class Pairs(Struct, frozen=True, tag="pairs"):
    """A dict with text keys."""

    keys: Annotated[list[Name], Meta(max_length=MAX_ARRAYS)]
    values: Annotated[list[Value], Meta(max_length=MAX_ARRAYS)]


class Complex(Struct, frozen=True, tag="complex"):
    """A Python complex number."""

    real: float
    imag: float


class DtypeName(Struct, frozen=True, tag="dtype"):
    """A torch dtype passed as an argument, e.g. ``torch.float32`` as ``float32``."""

    name: Name


class Strange(Struct, frozen=True, tag="strange"):
    """A result that cannot cross: its type and, in words, why not."""

    type_name: Name
    reason: Name


Value = (
    None | bool | int | float | Annotated[str, Meta(max_length=1 << 16)]
    | Ref | Items | Pairs | Complex | DtypeName | Strange
)  # fmt: skip


# --- what happened in the submission ----------------------------------------------------------


class CodeFrame(Struct, frozen=True):
    """One frame of a traceback, always inside a file of the submission. Lines count from 1."""

    file: Name
    line: Line
    function: Name
    text: Name = ""


class Failure(Struct, frozen=True):
    """A bounded record of an exception; made inside the box, so its text is untrusted."""

    kind: Name
    bases: Annotated[list[Name], Meta(max_length=32)]
    message: Text
    frames: Annotated[list[CodeFrame], Meta(max_length=32)] = []
    syntax_line: Line | None = None
    syntax_column: Line | None = None
    syntax_text: Name = ""


class Parameter(Struct, frozen=True):
    """One parameter of a callable: its name, `inspect` kind and whether it has a default."""

    name: Name
    kind: Literal[
        "POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD"
    ]
    has_default: bool


# --- grader -> submission ---------------------------------------------------------------------

FileName = Annotated[str, Meta(max_length=256, pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.py\Z")]


LibraryPath = Annotated[
    str, Meta(max_length=256, pattern=r"^[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*\.py\Z")
]


class Forbidden(Struct, frozen=True):
    """A function, class or torch operator that a submission may not use, by its dotted name.

    `rule` is the sentence that says so.
    """

    name: Name
    rule: Text


class Setting(Struct, frozen=True):
    """What stands around the files of a submission: the same for all submissions to a problem.

    `main` is the file that is judged, imported as `module` (by its own name when that is empty).
    The names of `provided` are defined in it beforehand. `library` holds importable modules by
    path (``package/part.py``). `harness` runs after the submission; its functions can be called,
    too.
    """

    main: FileName
    module: Name = ""
    provided: bytes | None = None
    library: dict[LibraryPath, bytes] = {}
    harness: bytes | None = None
    forbidden: list[Forbidden] = []


class Load(Struct, frozen=True, tag="load"):
    """Compile and import the submission in its setting."""

    files: dict[FileName, bytes]
    setting: Setting
    seed: int


class Instance(Struct, frozen=True):
    """An object to make for one call, and what is done with it.

    The class is called with `args` and `kwargs`; the object gets the dtype of `state` and loads
    it, and is put in training or evaluation mode, where these are given. Then `attributes` are
    read as a tuple, or else `method` is called: `CALL` the object itself, `STATE` for its state.
    """

    args: list[Value]
    kwargs: dict[Name, Value]
    state: Pairs | None = None
    training: bool | None = None
    method: Name = ""
    attributes: list[Name] = []


class Call(Struct, frozen=True, tag="call"):
    """Call `function`. Array arguments are `Ref`s into `views`, on the payload's buffers.

    `buffers` are the lengths in bytes of the buffers in the payload, in order. `forget` drops
    the autograd graphs of earlier calls first. With an `instance`, `function` is its class.
    """

    id: int
    function: Name
    args: list[Value]
    kwargs: dict[Name, Value]
    views: list[View]
    buffers: list[Size]
    forget: bool = False
    instance: Instance | None = None


class Backward(Struct, frozen=True, tag="backward"):
    """Vector-Jacobian product of call `call`.

    `outputs` are indices into that call's returned arrays, `cotangents` views on this frame's
    payload, one per output, `inputs` indices into that call's `views`.
    """

    id: int
    call: int
    outputs: list[int]
    cotangents: list[View]
    inputs: list[int]
    buffers: list[Size]


class Describe(Struct, frozen=True, tag="describe"):
    """Ask for the signature of a name."""

    id: int
    name: Name


class Execute(Struct, frozen=True, tag="execute"):
    """Run one more file, in a module of its own that has the names of the main one."""

    id: int
    file: FileName
    source: bytes


class RunTests(Struct, frozen=True, tag="run-tests"):
    """Run pytest files on the submission, which is loaded: `files` by path (``tests/test_a.py``).

    They may import `imports` and nothing else. `order` is `FILE_ORDER`, `REVERSED`, or else the
    seed of a shuffle. Answered by `CollectedTests`, one `RanTest` each, and `RanTests`; or, at any
    time before the first test runs, by `RefusedTests`.
    """

    id: int
    files: dict[LibraryPath, bytes]
    imports: list[Name]
    order: int


FILE_ORDER = 0
REVERSED = 1

Request = Load | Call | Backward | Describe | Execute | RunTests

# --- submission -> grader ---------------------------------------------------------------------


class Loaded(Struct, frozen=True, tag="loaded"):
    """The submission is imported; `names` are its public callables."""

    names: Annotated[list[Name], Meta(max_length=256)]


class LoadFailed(Struct, frozen=True, tag="load-failed"):
    """It was refused by the compiler, or raised while being imported."""

    stage: Literal["compile", "import"]
    failure: Failure


class RuleBroken(Struct, frozen=True, tag="rule-broken"):
    """The submission names or called something forbidden; `rule` is its place in the list.

    It answers any request, and the process ends after it.
    """

    rule: Annotated[int, Meta(ge=0, lt=MAX_ARRAYS)]
    frames: Annotated[list[CodeFrame], Meta(max_length=32)]


class Returned(Struct, frozen=True, tag="returned"):
    """The call's value. Its arrays come first in the payload, then the changed input buffers.

    `changed` lists the indices of argument buffers whose bytes differ from what was sent; their
    new bytes follow in that order.
    """

    id: int
    value: Value
    arrays: Annotated[list[Dense], Meta(max_length=MAX_ARRAYS)]
    changed: Annotated[list[int], Meta(max_length=MAX_ARRAYS)]


class Raised(Struct, frozen=True, tag="raised"):
    """The call, the backward pass or the file raised."""

    id: int
    failure: Failure


class Gradients(Struct, frozen=True, tag="gradients"):
    """One entry per requested input; None where no gradient reached it."""

    id: int
    present: Annotated[list[bool], Meta(max_length=MAX_ARRAYS)]
    arrays: Annotated[list[Dense], Meta(max_length=MAX_ARRAYS)]


class Described(Struct, frozen=True, tag="described"):
    """What a name is; `parameters` is None when Python cannot tell (some builtins)."""

    id: int
    found: bool
    is_callable: bool
    parameters: Annotated[list[Parameter], Meta(max_length=256)] | None


class Executed(Struct, frozen=True, tag="executed"):
    """The file ran to its end."""

    id: int


class Refused(Struct, frozen=True, tag="refused"):
    """The compiler refused the file."""

    id: int
    failure: Failure


class OwnTest(Struct, frozen=True):
    """One test of the submission: ``test_a::test_sum[3]``, and the first line of its docstring."""

    name: Name
    title: Name


TestIndex = Annotated[int, Meta(ge=0, lt=MAX_TESTS)]


class CollectedTests(Struct, frozen=True, tag="collected-tests"):
    """The tests, as they stand in the files, and the order in which they are about to run."""

    id: int
    tests: Annotated[list[OwnTest], Meta(max_length=MAX_TESTS)]
    order: Annotated[list[TestIndex], Meta(max_length=MAX_TESTS)]


class RanTest(Struct, frozen=True, tag="ran-test"):
    """One test has ended: `failure` is what it raised, in the frames of the test files alone."""

    id: int
    test: TestIndex
    failure: Failure | None


class RanTests(Struct, frozen=True, tag="ran-tests"):
    """All tests have ended."""

    id: int


class RefusedTests(Struct, frozen=True, tag="refused-tests"):
    """The tests of `file` cannot be run, and so none was.

    It uses something that tests may not use ("rule"), does not compile, or raised while it was
    imported or its tests were collected. `failure` says what, and where.
    """

    id: int
    stage: Literal["rule", "compile", "import"]
    file: Name
    failure: Failure


Reply = (
    Loaded | LoadFailed | RuleBroken | Returned | Raised | Gradients | Described | Executed
    | Refused | CollectedTests | RanTest | RanTests | RefusedTests
)  # fmt: skip

# --- grader <-> zygote of a runner box (the lease) ----------------------------------------------


class Lease(Struct, frozen=True, tag="lease"):
    """Ask for one fresh, confined child.

    `job` names the submission; a box that serves one submission only knows it by that.
    """

    cpu_s: float
    output_bytes: int
    job: Name = ""


class Granted(Struct, frozen=True, tag="granted"):
    """The child waits. Two descriptors come with this frame (SCM_RIGHTS).

    The first is the child's connection. From the second, what the child printed can be read once
    it has ended, up to the end of the stream; it goes past the zygote, whose later children must
    find nothing of earlier ones in their memory.
    """

    box: Name


class Gauge(Struct, frozen=True, tag="gauge"):
    """Ask what the child has used; answered by `Usage`, or by `Report` when it has ended.

    With `closely` its memory is also looked at again and again until the next `Gauge`.
    """

    closely: bool


class Usage(Struct, frozen=True, tag="usage"):
    """What the child has used since it was granted, as the kernel counts it.

    `memory_bytes` is what it holds now, `peak_memory_bytes` the most that it held at any time, both
    beyond what it was granted with.
    """

    cpu_ms: float
    memory_bytes: int
    peak_memory_bytes: int


class Release(Struct, frozen=True, tag="release"):
    """The child is no longer needed: kill it and report."""


class Report(Struct, frozen=True, tag="report"):
    """How the child ended.

    `ended`: "killed" (by us, on release), "exited" (see `code`), "signalled" (see `signal`),
    "memory" (out of memory, by the kernel's count), "output" (wrote more than `output_bytes`),
    "cpu" (used more than `cpu_s`).
    """

    ended: Literal["killed", "exited", "signalled", "memory", "output", "cpu"]
    code: int
    signal: int
    output_truncated: bool
    cpu_ms: float
    peak_memory_bytes: int


LeaseRequest = Lease | Gauge | Release
LeaseReply = Granted | Usage | Report

# --- box -> its launcher (control channel) ------------------------------------------------------


class Probe(Struct, frozen=True):
    """One defence, tried from inside by a hostile probe at start."""

    name: Name
    held: bool
    detail: Text


class BoxReady(Struct, frozen=True, tag="ready"):
    """The box is warm. `nested` tells whether each submission gets namespaces of its own."""

    nested: bool
    reason: Text
    probes: list[Probe]
    torch: Name
    numpy: Name
    python: Name


class SetMemory(Struct, frozen=True, tag="set-memory"):
    """Bound the memory of later students where no cgroup does: what the whole box may use."""

    memory_bytes: int


class TryMemory(Struct, frozen=True, tag="try-memory"):
    """Run the memory probe: a student that takes memory until it is stopped. Answered by `Probe`.

    Not run at every start, because it takes as long as filling the box's memory does.
    """


class Ping(Struct, frozen=True, tag="ping"):
    """Answer with a `Pong`, at once, whatever a student does meanwhile."""


class Pong(Struct, frozen=True, tag="pong"):
    """The box is there."""


ControlRequest = SetMemory | TryMemory | Ping


# --- the connection -----------------------------------------------------------------------------


@cache
def decoder_of(kind: object) -> msgspec.msgpack.Decoder[Any]:
    """What decodes headers of a message class, or of a union of them.

    Making one takes milliseconds, so whoever forks asks for those that its forks will need.
    """
    return msgspec.msgpack.Decoder(kind)


class Connection:
    """Frames over a stream, with deadlines (`time.monotonic` seconds) in both directions.

    The stream is a socket, or a pair of pipe ends (`over_pipes`). The descriptors are switched
    to non-blocking mode. Not thread-safe, except that one thread may send while one receives.
    """

    def __init__(self, stream: socket.socket | tuple[int, int], max_payload_bytes: int) -> None:
        """`stream` is a socket, or the descriptors to read from and to write to; owned from now."""
        self._socket = stream if isinstance(stream, socket.socket) else None
        self._read_fd, self._write_fd = (
            (stream.fileno(), stream.fileno()) if isinstance(stream, socket.socket) else stream
        )
        self._max_payload_bytes = max_payload_bytes
        self._encoder = msgspec.msgpack.Encoder()
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)

    @classmethod
    def over_pipes(cls, read_fd: int, write_fd: int, max_payload_bytes: int) -> Connection:
        """A connection over two descriptors, which it then owns."""
        return cls((read_fd, write_fd), max_payload_bytes)

    def fileno(self) -> int:
        """The descriptor that becomes readable, for `select`."""
        return self._read_fd

    def send(
        self, message: Struct, buffers: Sequence[Buffer] = (), deadline: float | None = None
    ) -> None:
        """Send one frame. Raises `ConnectionLost`, `DeadlinePassed`, or `TooLarge` (ours)."""
        parts = [self._frame(message, buffers), *buffers]
        if sum(memoryview(part).nbytes for part in parts) <= _JOINED_BYTES:
            parts = [b"".join(parts)]  # one write, so that the peer wakes once and finds it all
        for part in parts:
            self._send_all(part, deadline)

    def send_with_descriptors(self, message: Struct, descriptors: Sequence[int]) -> None:
        """Send one small frame and descriptors with it. Needs a Unix socket."""
        frame = self._frame(message, ())
        try:
            sent = socket.send_fds(self._unix_socket(), [frame], descriptors)
        except OSError as error:
            raise ConnectionLost(f"the peer is gone ({error.strerror})") from None
        self._send_all(memoryview(frame)[sent:], deadline=None)

    @overload
    def receive(self, kind: type[T], deadline: float | None = None) -> tuple[T, memoryview]: ...

    @overload
    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]: ...

    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]:
        """Receive one frame of type `kind` and its payload. Raises a `ChannelError`.

        `kind` is a message class or a union of them (which static typing sees as `Any`).
        """
        return self._receive_rest(kind, self._receive_exactly(PREFIX.size, deadline), deadline)

    def receive_with_descriptors(
        self, kind: type[T], count: int, deadline: float | None
    ) -> tuple[T, list[int]]:
        """Receive one frame that must bring `count` descriptors along. Needs a Unix socket."""
        self._wait(for_reading=True, deadline=deadline)
        try:
            start, descriptors, _, _ = socket.recv_fds(self._unix_socket(), PREFIX.size, count)
        except OSError as error:
            raise ConnectionLost(f"the peer is gone ({error.strerror})") from None
        if not start:
            raise ConnectionLost("the peer closed the connection")
        try:
            prefix = start + self._receive_exactly(PREFIX.size - len(start), deadline)
            message: T = self._receive_rest(kind, prefix, deadline)[0]
            if len(descriptors) != count:
                raise ProtocolError("descriptors were expected with this frame")
        except ChannelError:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        return message, descriptors

    def pending(self, within_s: float = 0.0) -> bool:
        """True when bytes wait to be read, or do so within a time, or the peer is gone."""
        poller = select.poll()
        poller.register(self._read_fd, select.POLLIN)
        return bool(poller.poll(within_s * 1000))

    def close(self) -> None:
        """Close the stream."""
        if self._socket is not None:
            self._socket.close()
            return
        os.close(self._read_fd)
        os.close(self._write_fd)

    def _unix_socket(self) -> socket.socket:
        if self._socket is None:
            raise TypeError("descriptors can only travel over a socket")
        return self._socket

    def _frame(self, message: Struct, buffers: Sequence[Buffer]) -> bytes:
        header = self._encoder.encode(message)
        payload_bytes = sum(memoryview(buffer).nbytes for buffer in buffers)
        if len(header) > MAX_HEADER_BYTES or payload_bytes > MAX_ARGUMENT_BYTES:
            raise TooLarge(f"a frame of {len(header)} + {payload_bytes} bytes exceeds the bound")
        return PREFIX.pack(len(header), payload_bytes) + header

    def _receive_rest(
        self, kind: object, prefix: bytes | bytearray, deadline: float | None
    ) -> tuple[Any, memoryview]:
        header_bytes, payload_bytes = PREFIX.unpack(prefix)
        if header_bytes > MAX_HEADER_BYTES:
            raise TooLarge(f"a header of {header_bytes} bytes was announced")
        if payload_bytes > self._max_payload_bytes:
            raise TooLarge(f"a payload of {payload_bytes} bytes was announced")
        header = self._receive_exactly(header_bytes, deadline)
        payload = self._receive_exactly(payload_bytes, deadline)
        return self._decode(kind, header), memoryview(payload)

    def _decode(self, kind: object, header: bytearray) -> object:
        try:
            return decoder_of(kind).decode(header)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise ProtocolError(f"malformed header: {error}") from None

    def _send_all(self, data: Buffer, deadline: float | None) -> None:
        view = memoryview(data)
        view = view.cast("B") if view.nbytes else view[:0]
        while view:
            try:
                view = view[os.write(self._write_fd, view) :]
            except BlockingIOError:
                self._wait(for_reading=False, deadline=deadline)
            except OSError as error:
                raise ConnectionLost(f"the peer is gone ({error.strerror})") from None

    def _receive_exactly(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        filled = 0
        while filled < size:
            try:
                count = os.readv(self._read_fd, [view[filled:]])
            except BlockingIOError:
                self._wait(for_reading=True, deadline=deadline)
                continue
            except OSError as error:
                raise ConnectionLost(f"the peer is gone ({error.strerror})") from None
            if count == 0:
                raise ConnectionLost("the peer closed the connection")
            filled += count
        return data

    def _wait(self, *, for_reading: bool, deadline: float | None) -> None:
        descriptor, event = (
            (self._read_fd, select.POLLIN) if for_reading else (self._write_fd, select.POLLOUT)
        )
        poller = select.poll()
        poller.register(descriptor, event)
        if deadline is None:
            poller.poll()
            return
        remaining_s = deadline - time.monotonic()
        if remaining_s <= 0 or not poller.poll(remaining_s * 1000):
            raise DeadlinePassed("the peer did not answer in time")
