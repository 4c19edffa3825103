"""Waiting for work that may have to be left undone."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

T = TypeVar("T")


async def either(work: asyncio.Future[T], event: asyncio.Event) -> None:
    """Return when the work is done or the event is set; neither is cancelled."""
    waiting = asyncio.create_task(event.wait())
    both: set[asyncio.Future[Any]] = {work, waiting}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
