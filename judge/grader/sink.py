"""The way out for what a job has to say."""

from __future__ import annotations

import time

from judge.events import EVENTS, Event, Finished, TierFinished
from judge.grader.messages import ChildEvent
from sandbox.protocol import Connection

GATHER_S = 0.05


class EventSink:
    """Sends the events of a job, those of a moment in one message.

    On its way out of the box every message wakes half a dozen threads and processes, all of which
    want the processors that judge, and that takes longer than a check does. So what a check came to
    waits for others; but not for the end of a slow one: `flush` is called when the submission keeps
    the job waiting. A verdict never waits.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._gathered: list[Event] = []
        self._sent_at = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Send it: at once, or with what comes right after it."""
        self._gathered.append(event)
        is_verdict = isinstance(event, TierFinished | Finished)
        if is_verdict or time.monotonic() > self._sent_at + GATHER_S:
            self.flush()

    def flush(self) -> None:
        """Send what was gathered."""
        if self._gathered:
            last = isinstance(self._gathered[-1], Finished)
            self._connection.send(ChildEvent(last), [EVENTS.dump_json(self._gathered)])
            self._gathered.clear()
            self._sent_at = time.monotonic()
