"""A connection with bounds where the server has none, before there is a request to speak of.

Uvicorn keeps the head of a request however long it is, waits for the rest of a request however long
that takes, and takes every connection. Where memory or descriptors run out it is not the connection
that ends but the process, and what it judges.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HEAD_BYTES = 64 * 1024  # all but bodies: addresses, headers, what is around chunks
REQUEST_S = 30.0  # from its first byte to its last
NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
PIECE_BYTES = 4096  # of what is read, before it is looked at how many frames were in it
FRAMES_PER_S = 200.0  # an editor sends some ten
FRAMES_AT_ONCE = 2000.0
LAST_WORDS_S = 10.0  # for the client to take what was said last
SHARE = 2  # one half of the descriptors is for connections, the other for the rest of the process


class Connection(HttpToolsProtocol):
    """See above."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._around = 0  # bytes of the current request that are no body
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as theirs
        """Begin, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > resource.getrlimit(resource.RLIMIT_NOFILE)[0] // SHARE:
            transport.abort()
        else:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._end_patience()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is too long ends the connection."""
        self._around += len(data)
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]  # None at first
            self._wait_for_request()
        super().data_received(data)
        if self._around > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may have {HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._around = 0  # what came with its first bytes is bounded by what is read at once
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """A part of a request's body."""
        self._around -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._around = 0
        self._end_patience()
        super().on_message_complete()

    def _wait_for_request(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(REQUEST_S, self._give_up)

    def _give_up(self) -> None:
        self._patience = None
        self.transport.abort()

    def _end_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A connection that became a WebSocket, or would have.

    It begins with a whole head. Where that is no handshake (a POST, a header longer than it takes)
    Uvicorn would keep the connection, and nothing would ever come of it.

    Frames may be empty: Uvicorn parses any number of them, answers pings however many answers wait
    to be read, and waits without end for a client that reads nothing. Here the connection ends.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._frames_left = FRAMES_AT_ONCE
        self._counted_s = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """End. What was said and not heard yet has nobody any more who waits for an answer."""
        while not self.queue.empty():
            self.queue.get_nowait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, if this is a WebSocket."""
        for at in range(0, len(data), PIECE_BYTES):
            super().data_received(data[at : at + PIECE_BYTES])
            if self.transport.is_closing():
                return
        if not self.handshake_initiated:
            self.transport.write(NO_HANDSHAKE)
            self.transport.close()

    def handle_events(self) -> None:
        """Take the frames that were read, unless they are too many."""
        now_s = self.loop.time()
        earned = (now_s - self._counted_s) * FRAMES_PER_S
        self._frames_left = min(FRAMES_AT_ONCE, self._frames_left + earned)
        self._frames_left -= len(self.conn.events)
        self._counted_s = now_s
        if self._frames_left < 0:
            self.transport.abort()
        else:
            super().handle_events()

    def keepalive_timeout(self) -> None:
        """End, also when there is something that the client does not read."""
        super().keepalive_timeout()
        self.transport.abort()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """End, once the client had time to read the last words."""
        super().on_task_complete(task)
        self.loop.call_later(LAST_WORDS_S, self.transport.abort)
