"""The launcher's end of a control channel, and what keeps it flowing.

Theory of operation
-------------------
A box talks on its stdin and stdout. The launcher wants a socket there, because a socket has
deadlines; `sandbox.protocol.Connection` takes it from there.

bubblewrap boxes simply get a socket as descriptors 0 and 1. Docker gives one stream for all three,
in which the box's output comes in pieces, each behind eight bytes that say which descriptor it was
written to and how long it is. `AttachPump` is a thread between that stream and a socket pair. It
*always* drains the stream, whether anyone reads our end or not: with an unread stream the engine
hangs in `kill` and `inspect` of that container. What a box sends unread is bounded; a box that
exceeds the bound is cut off, and only draining goes on.

Nothing here trusts the box: it may write to its stderr what and as much as it likes.

`ConnectedBox` is the half of a box that is the same whoever made it.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar, overload

from msgspec import Struct

from sandbox.boxes import BoxEnvironment, MemoryMode, Mode
from sandbox.protocol import (
    MAX_HEADER_BYTES,
    MAX_RESULT_BYTES,
    BoxReady,
    Buffer,
    Connection,
    ConnectionLost,
)
from sandbox.start import send_code

T = TypeVar("T")

TAIL_BYTES = 16 << 10
UNREAD_BYTES = MAX_HEADER_BYTES + MAX_RESULT_BYTES
CHUNK_BYTES = 1 << 16
PIECE = struct.Struct(">BxxxI")  # descriptor, length
LAST_WORDS_S = 1.0
STDOUT = 1
STDERR = 2


class Tail:
    """The last few kilobytes of an endless text; may be written and read by different threads."""

    def __init__(self, size_bytes: int = TAIL_BYTES) -> None:
        self._size_bytes = size_bytes
        self._data = b""
        self._lock = threading.Lock()

    def append(self, data: bytes | memoryview) -> None:
        """Add text; forget what no longer fits."""
        with self._lock:
            self._data = (self._data + data)[-self._size_bytes :]

    def text(self) -> str:
        """What is kept, with anything that is not text replaced."""
        with self._lock:
            return self._data.decode("utf-8", "replace")


class Drain:
    """A thread that reads a descriptor to its end, keeps the tail, and closes it."""

    def __init__(self, fd: int) -> None:
        self.tail = Tail()
        self._fd = fd
        self._thread = threading.Thread(target=self._run, name="box-stderr", daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for the end."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        with os.fdopen(self._fd, "rb", buffering=0) as stream:
            while data := stream.read(CHUNK_BYTES):
                self.tail.append(data)


class ConnectedBox:
    """A box's name, control channel and what is known of it; see `sandbox.boxes.Box`."""

    def __init__(self, box_id: str, channel: socket.socket, tail: Tail) -> None:
        self._id = box_id
        self._channel = channel
        self._tail = tail
        self._connection = Connection(channel, MAX_RESULT_BYTES)
        self._ready: BoxReady | None = None
        self._lost = False  # a box that cannot be talked to is of no use, even if it still runs
        # Not closed by `kill`: another thread may just be about to read from the descriptor, whose
        # number could meanwhile belong to something else. It sees the end of the stream instead.
        weakref.finalize(self, channel.close)

    @property
    def id(self) -> str:
        """Unique name; a runner's socket is `<id>.sock` in the shared folder."""
        return self._id

    @property
    def ready(self) -> BoxReady | None:
        """What `wait_ready` received."""
        return self._ready

    def send_code(self, code: bytes) -> None:
        """Send the box its code; raises `SandboxError`."""
        send_code(self._channel, code)

    def send(
        self, message: Struct, buffers: Sequence[Buffer] = (), deadline: float | None = None
    ) -> None:
        """Send one control frame; raises a `ChannelError`."""
        try:
            self._connection.send(message, buffers, deadline)
        except ConnectionLost:
            self._lost = True
            raise

    @overload
    def receive(self, kind: type[T], deadline: float | None = None) -> tuple[T, memoryview]: ...

    @overload
    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]: ...

    def receive(self, kind: object, deadline: float | None = None) -> tuple[Any, memoryview]:
        """Receive one control frame; raises a `ChannelError`, at once when the box dies."""
        try:
            return self._connection.receive(kind, deadline)
        except ConnectionLost:
            self._lost = True
            raise

    def wait_ready(self, deadline: float | None = None) -> BoxReady:
        """Receive the runner's first message and remember it; raises as `receive` does."""
        ready, _ = self.receive(BoxReady, deadline)
        self._ready = ready
        return ready

    def fileno(self) -> int:
        """Descriptor that becomes readable when the box says something or dies."""
        return self._connection.fileno()

    def diagnostics(self) -> str:
        """The last few kilobytes the box wrote to its stderr. Untrusted text."""
        return self._tail.text()

    def _describe(self, sandbox: str, image: str, memory: MemoryMode) -> BoxEnvironment:
        mode = Mode.SINGLE if self._ready and not self._ready.nested else Mode.NESTED
        return BoxEnvironment(f"{sandbox}/{mode}", image, memory)


class Demultiplexer:
    """Splits an attach stream into stdout and stderr, whatever the sizes it arrives in."""

    def __init__(self) -> None:
        self._prefix = b""
        self._descriptor = 0
        self._left = 0

    def feed(self, data: memoryview) -> list[tuple[int, memoryview]]:
        """The pieces in `data`, as (descriptor, bytes); a part of a prefix is kept for later."""
        pieces = []
        while data:
            if not self._left:
                data = self._take_prefix(data)
                continue
            pieces.append((self._descriptor, data[: self._left]))
            taken = len(pieces[-1][1])
            data = data[taken:]
            self._left -= taken
        return pieces

    def _take_prefix(self, data: memoryview) -> memoryview:
        missing = PIECE.size - len(self._prefix)
        self._prefix += data[:missing]
        if len(self._prefix) == PIECE.size:
            self._descriptor, self._left = PIECE.unpack(self._prefix)
            self._prefix = b""
        return data[missing:]


class AttachPump:
    """Moves bytes between an attach stream and `socket`, in a thread of its own.

    When the stream ends, `socket` ends. When the peer of `socket` closes its end, the stream's
    sending half is shut down, and with it the box's stdin.
    """

    def __init__(self, stream: socket.socket) -> None:
        self.socket, self._inner = socket.socketpair()
        self.tail = Tail()
        self._stream = stream
        self._pieces = Demultiplexer()
        self._to_box = memoryview(b"")
        self._from_box: deque[memoryview] = deque()
        self._unread_bytes = 0
        self._ended = threading.Event()
        self._inner_open = True
        stream.setblocking(False)
        self._inner.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="box-channel", daemon=True)

    def start(self) -> None:
        """Begin to move bytes."""
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether the stream has ended, which it does when the box does."""
        return self._ended.is_set()

    def hang_up(self) -> None:
        """End the stream from our side; needed when the engine will not."""
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)

    def join(self, timeout_s: float) -> None:
        """Wait for the stream's end."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._stream, selectors.EVENT_READ)
                selector.register(self._inner, selectors.EVENT_READ)
                while self._turn(selector):
                    self._watch(selector)
        except OSError:
            pass  # the engine is gone, and with it the stream: the same as its end
        finally:
            self._ended.set()
            self._flush_rest()
            self._inner.close()
            self._stream.close()

    def _turn(self, selector: selectors.BaseSelector) -> bool:
        """Move what can be moved; False at the end of the stream."""
        for key, events in selector.select():
            if key.fileobj is self._inner:
                self._serve_inner(events)
            elif not self._serve_stream(events):
                return False
        return True

    def _watch(self, selector: selectors.BaseSelector) -> None:
        # Our side is read only while nothing waits for the box: that is the sender's backpressure.
        writes = selectors.EVENT_WRITE if self._to_box else 0
        selector.modify(self._stream, selectors.EVENT_READ | writes)
        events = 0 if self._to_box else selectors.EVENT_READ
        events |= selectors.EVENT_WRITE if self._from_box else 0
        registered = self._inner in (key.fileobj for key in selector.get_map().values())
        if not self._inner_open or not events:
            if registered:
                selector.unregister(self._inner)
        elif registered:
            selector.modify(self._inner, events)
        else:
            selector.register(self._inner, events)

    def _serve_stream(self, events: int) -> bool:
        if events & selectors.EVENT_WRITE:
            self._to_box = self._to_box[self._stream.send(self._to_box) :]
        if not events & selectors.EVENT_READ:
            return True
        data = self._stream.recv(CHUNK_BYTES)
        for descriptor, piece in self._pieces.feed(memoryview(data)):
            if descriptor == STDERR:
                self.tail.append(piece)
            elif descriptor == STDOUT and self._inner_open:
                self._keep(piece)
        return bool(data)

    def _keep(self, piece: memoryview) -> None:
        self._from_box.append(piece)
        self._unread_bytes += len(piece)
        self._flush()
        if self._unread_bytes > UNREAD_BYTES:
            self._close_inner()

    def _serve_inner(self, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._flush()
            if events & selectors.EVENT_READ:
                data = self._inner.recv(CHUNK_BYTES)
                self._to_box = memoryview(data)
                if not data:
                    self._close_inner()
        except (BrokenPipeError, ConnectionResetError):
            self._close_inner()

    def _flush(self) -> None:
        while self._from_box:
            try:
                sent = self._inner.send(self._from_box[0])
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionResetError):
                self._close_inner()
                return
            self._unread_bytes -= sent
            if sent == len(self._from_box[0]):
                self._from_box.popleft()
            else:
                self._from_box[0] = self._from_box[0][sent:]

    def _flush_rest(self) -> None:
        """A box's last words are still delivered, if somebody reads them soon."""
        self._inner.settimeout(LAST_WORDS_S)
        try:
            for piece in self._from_box:
                self._inner.sendall(piece)
        except OSError:
            pass  # nobody does

    def _close_inner(self) -> None:
        self._inner_open = False
        self._from_box.clear()
        self._unread_bytes = 0
        for end, how in ((self._inner, socket.SHUT_RDWR), (self._stream, socket.SHUT_WR)):
            with contextlib.suppress(OSError):  # already gone
                end.shutdown(how)
