"""The way out for what a job has to say."""

from __future__ import annotations

import time

from judge.events import EVENTS, ChartDrawn, CheckFinished, Event, Finished
from judge.grader.messages import ChildEvent
from sandbox.protocol import Connection

GATHER_S = 0.025


class EventSink:
    """Sends the events of a job, those of a moment in one message.

    On its way out of the box every message wakes half a dozen threads and processes, all of which
    want the processors that judge: a check takes less. So what checks came to waits for others, but
    not for a slow one: `flush` is called when the submission keeps the job waiting.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._gathered: list[Event] = []
        self._sent_at = 0.0

    def __call__(self, event: Event) -> None:
        """Send it: at once, or with what comes right after it."""
        self._gathered.append(event)
        may_wait = isinstance(event, CheckFinished | ChartDrawn)
        if not may_wait or time.monotonic() > self._sent_at + GATHER_S:
            self.flush()

    def flush(self) -> None:
        """Send what was gathered."""
        if self._gathered:
            last = isinstance(self._gathered[-1], Finished)
            self._connection.send(ChildEvent(last), [EVENTS.dump_json(self._gathered)])
            self._gathered.clear()
            self._sent_at = time.monotonic()
