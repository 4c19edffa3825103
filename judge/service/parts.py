"""What the API is made of: built once by whoever starts it, and passed in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from judge.service.author_desk import AuthorDesk
from judge.service.bank import Bank
from judge.service.doorbell import Doorbell
from judge.service.drawing import Drawer
from judge.service.identity import Identity, identify
from judge.service.languages import Languages
from judge.service.page import Page
from judge.service.rates import PassRates
from judge.service.seats import Seats
from judge.service.store import Store
from judge.settings import Settings


@dataclass(frozen=True)
class Parts:
    """The parts. `stopping` is set when the server is to end; open streams end with it.

    `bound_to_loopback` is true when nobody but this machine can connect. `author` is there in
    `judge dev` only.
    """

    store: Store
    doorbell: Doorbell
    bank: Bank
    rates: PassRates
    settings: Settings
    render_metrics: Callable[[], Awaitable[bytes]]
    stopping: asyncio.Event
    bound_to_loopback: bool
    page: Page = field(default_factory=Page)
    seats: Seats = field(default_factory=Seats)
    drawer: Drawer = field(default_factory=Drawer)
    languages: Languages = field(default_factory=Languages)
    author: AuthorDesk | None = None


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


async def _student(request: Request, parts: Annotated[Parts, Depends(_parts)]) -> Identity:
    return identify(request, bound_to_loopback=parts.bound_to_loopback)


TheParts = Annotated[Parts, Depends(_parts)]
Student = Annotated[Identity, Depends(_student)]
