"""A submission's events as they happen: Server-Sent Events, read from the events table.

Theory of operation
-------------------
A stream owns nothing but the id of the last event it sent. It reads the next page of the table,
writes it out, and waits for the doorbell, or a second. How fast a client reads is its own matter:
the next page is read when the last one has gone out, so a slow reader holds one page, and one that
went away is noticed after a wait. A stream is never cancelled: in a query that costs the connection
to the database, and whoever opens and drops streams fast would leave none for others. Of many
streams each looks less often.

Events carry the ids of their rows. A client that reconnects sends the last one it saw and gets
what came after it; an id of an earlier judging means the newest judging from its beginning. When
the database goes away the stream stays open and goes on when it is back.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from judge.events import StreamEvent
from judge.results import Result
from judge.service.database import DATABASE_AWAY
from judge.service.errors import Refusal
from judge.service.folding import replay
from judge.service.models import Position
from judge.service.parts import Parts
from judge.service.records import StoredEvent, StoredSubmission
from judge.service.store import PAGE

MEDIA_TYPE = "text/event-stream"
RETRY_MS = 1000
POLL_S = 1.0
AT_EASE = 100  # streams of a process that look so often; of twice as many each looks half as often
POSITION_EVERY_S = 2.0
KEEP_ALIVE_S = 15.0
LAST_ID_MAX = 2**63 - 1  # of the column
_NUMBER = re.compile(r"[0-9]{1,19}")


class EventStream(StreamingResponse):
    """The answer. An empty frame is none, but a moment at which the answer may end.

    `take_seat` is called when it begins and may refuse; what it returns, when nobody listens.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, frames: AsyncGenerator[bytes, None], take_seat: Callable[[], Callable[[], None]]
    ) -> None:
        # Some proxies hold answers back until they are complete; this one asks them not to.
        super().__init__(frames, headers={"X-Accel-Buffering": "no"})
        self._frames = frames
        self._take_seat = take_seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the frames until they end, or nobody listens any more."""
        try:
            give_back = self._take_seat()
        except Refusal as refusal:
            await refusal.response()(scope, receive, send)
            return
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        # At once, not when the next frame finds out: whoever reloads a page needs the place again.
        leaving.add_done_callback(lambda _gone: give_back())
        try:
            async with aclosing(self._frames):
                await send(
                    {
                        "type": "http.response.start",
                        "status": self.status_code,
                        "headers": self.raw_headers,
                    }
                )
                async for frame in self._frames:
                    if leaving.done():
                        return
                    if frame:
                        await send({"type": "http.response.body", "body": frame, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            leaving.cancel()
            give_back()


async def resume_after(parts: Parts, submission: StoredSubmission, last_id: str | None) -> int:
    """The event after which to go on: 0 unless `last_id` is one of the newest judging's."""
    number = int(last_id) if last_id and _NUMBER.fullmatch(last_id) else 0
    if not 0 < number <= LAST_ID_MAX:
        return 0
    found = await parts.store.events_after(submission.judging.id, number - 1, limit=1)
    return number if found and found[0].id == number else 0


async def frames(
    parts: Parts, submission: StoredSubmission, after: int
) -> AsyncGenerator[bytes, None]:
    """The frames of a stream, until the submission is finished or the server stops."""
    with parts.doorbell.bell(submission.id) as bell:
        yield format_sse_event(retry=RETRY_MS)
        reader = _Reader(parts, submission, after)
        while not (reader.is_over or parts.stopping.is_set()):
            try:
                new = await reader.look()
            except DATABASE_AWAY:
                new, reader.has_more = [], False
            yield b"".join(new)
            if not (reader.has_more or reader.is_over):
                await bell.wait(POLL_S * max(1.0, parts.doorbell.bells / AT_EASE))
                yield b""


async def replayed(result: Result) -> AsyncGenerator[bytes, None]:
    """The frames of a submission whose events have been deleted: without ids."""
    for event in replay(result):
        yield _frame(event)


class _Reader:
    """How far a stream has come.

    `is_over` when there is nothing more to read, `has_more` when there is already.
    """

    def __init__(self, parts: Parts, submission: StoredSubmission, after: int) -> None:
        self.is_over = False
        self.has_more = False
        self._store = parts.store
        self._submission = submission
        self._after = after
        self._is_waiting = submission.judging.state == "queued"
        self._position_at_s = time.monotonic() + POSITION_EVERY_S
        self._keep_alive_at_s = time.monotonic() + KEEP_ALIVE_S

    async def look(self) -> list[bytes]:
        """The frames of what is new: a page at most, and now and then a word that we are here."""
        judging = self._submission.judging.id
        page = await self._store.events_after(judging, self._after)
        self.has_more = len(page) >= PAGE
        for stored in page:
            self._after = stored.id
            self._note(stored)
        new = [_stored_frame(stored) for stored in page]
        now_s = time.monotonic()
        if self._is_waiting and now_s >= self._position_at_s:
            self._position_at_s = now_s + POSITION_EVERY_S
            position = Position(ahead=await self._store.ahead(judging))
            new.append(format_sse_event(event="position", data_str=position.model_dump_json()))
        if now_s >= self._keep_alive_at_s:
            self._keep_alive_at_s = now_s + KEEP_ALIVE_S
            new.append(KEEPALIVE_COMMENT)
            await self._ask_whether_over()
        return new

    def _note(self, stored: StoredEvent) -> None:
        if stored.type != "queued":
            self._is_waiting = False
        if stored.type == "finished":
            self.is_over = True

    async def _ask_whether_over(self) -> None:
        """End where the last event will not be read any more: deleted, or judged again since.

        Whoever reconnects is told.
        """
        submission = await self._store.submission(self._submission.id)
        self.is_over = (
            self.is_over
            or submission is None
            or submission.judging.id != self._submission.judging.id
            or submission.judging.state == "finished"
        )


def _frame(event: StreamEvent) -> bytes:
    return format_sse_event(event=event.type, data_str=event.model_dump_json())


def _stored_frame(stored: StoredEvent) -> bytes:
    """As it is stored: we wrote it ourselves, so it is not read to be written the same again."""
    return format_sse_event(id=str(stored.id), event=stored.type, data_str=stored.data)
