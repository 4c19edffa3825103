"""Events on their way from the thread that judges to the store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from judge.events import StreamEvent, TierStarted
from judge.service.outbox import GATHER_S, Outbox
from judge.service.records import Claim
from judge.service.store import Store

SOON_S = 30.0


class Kept:
    """A store that keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []

    async def append(self, _claim: object, events: Sequence[StreamEvent]) -> bool:
        self.events += events
        return True

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(SOON_S):
            while len(self.events) < count:
                await asyncio.sleep(GATHER_S / 10)


def outbox_to(store: Kept) -> Outbox:
    return Outbox(cast("Store", store), cast("Claim", None))


def test_events_of_a_thread_are_written_in_order_without_waiting_for_the_end() -> None:
    async def written() -> list[StreamEvent]:
        store = Kept()
        outbox = outbox_to(store)
        async with outbox.writing():
            for number in range(20):
                await asyncio.to_thread(outbox.put, TierStarted(tier=f"T{number}"))
                await asyncio.sleep(GATHER_S / 7)
            await store.wait_for(20)
        return store.events

    tiers = [cast("Any", event).tier for event in asyncio.run(written())]
    assert tiers == [f"T{number}" for number in range(20)]


def test_a_thread_that_was_interrupted_while_it_told_of_an_event_silences_no_later_one() -> None:
    async def written() -> None:
        store = Kept()
        outbox = outbox_to(store)
        async with outbox.writing():
            outbox.put(TierStarted(tier="T0"))
            await store.wait_for(1)
            # The thread had looked whether to wake the loop before that write, and goes on now.
            outbox._woken = True
            outbox._wake(False)
            await asyncio.sleep(3 * GATHER_S)
            outbox.put(TierStarted(tier="T1"))
            await store.wait_for(2)

    asyncio.run(written())
