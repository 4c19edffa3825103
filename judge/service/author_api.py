"""What `judge dev` tells the page of the folder that is being written.

Everywhere else these addresses are refused: they tell what students must not know.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from judge.proof.outcomes import Proof
from judge.service.author_desk import AuthorDesk, AuthorNews
from judge.service.errors import ErrorKind, Refusal
from judge.service.models import Documented, refusals, stream_item
from judge.service.parts import Parts, Student, TheParts
from judge.service.stream import KEEP_ALIVE_S, RETRY_MS, EventStream

POLL_S = 1.0
NEWS = "news"

router = APIRouter(prefix="/api/author", tags=["author"])


def _documented(*kinds: ErrorKind) -> Documented:
    return refusals(ErrorKind.NOT_AUTHORING, ErrorKind.INVALID, *kinds)


async def _desk(slug: str, parts: TheParts) -> AuthorDesk:
    """The desk of that exercise; raises `Refusal`."""
    if parts.author is None:
        detail = "This judge is for students. `judge dev` with an exercise shows it to its author."
        raise Refusal(ErrorKind.NOT_AUTHORING, detail)
    if parts.author.slug != slug:
        detail = (
            f"`judge dev` was started for {parts.author.slug!r}. Start another for this exercise."
        )
        raise Refusal(ErrorKind.NOT_AUTHORING, detail)
    return parts.author


Desk = Annotated[AuthorDesk, Depends(_desk)]


@router.get("/{slug}", summary="The folder that is being written", responses=_documented())
async def get_author(desk: Desk) -> AuthorNews:
    """Which version is shown, what is wrong with the folder now, and how far its proof is."""
    return desk.news


@router.get(
    "/{slug}/proof",
    summary="The newest proof of the folder",
    response_model=Proof,
    responses=_documented(ErrorKind.NOT_PROVEN),
)
async def get_proof(desk: Desk) -> Response:
    """Of the last version that was proven."""
    if desk.proof is None:
        detail = "The first numbers come once the exercise is valid and the boxes are warm."
        raise Refusal(ErrorKind.NOT_PROVEN, detail)
    # Not by the framework: a share of a limit that is infinite has to come as null.
    return Response(desk.proof.model_dump_json(), media_type="application/json")


@router.get(
    "/{slug}/events",
    status_code=200,
    summary="What changes in the folder, as it happens",
    response_class=EventStream,
    response_description="`news`, first as they are now and then whenever they change",
    responses={
        200: {"content": {EventStream.media_type: {"itemSchema": stream_item("AuthorNews")}}},
        **_documented(ErrorKind.BAD_CREDENTIALS, ErrorKind.TOO_MANY_STREAMS),
    },
)
async def stream_author_events(desk: Desk, parts: TheParts, student: Student) -> Response:
    """Server-Sent Events until the judge ends. Each has all the news: none needs those before."""
    return EventStream(_frames(desk, parts), partial(parts.seats.take, student.student))


async def _frames(desk: AuthorDesk, parts: Parts) -> AsyncGenerator[bytes, None]:
    told: AuthorNews | None = None
    keep_alive_at_s = time.monotonic() + KEEP_ALIVE_S
    with desk.bell() as bell:
        yield format_sse_event(retry=RETRY_MS)
        while not parts.stopping.is_set():
            if desk.news != told:
                told = desk.news
                yield format_sse_event(event=NEWS, data_str=told.model_dump_json())
            if time.monotonic() >= keep_alive_at_s:
                keep_alive_at_s += KEEP_ALIVE_S
                yield KEEPALIVE_COMMENT
            await bell.wait(POLL_S)
            yield b""
