"""The addresses of the page: its files, and those that it draws itself.

What is shown at `/`, at a track and at an exercise is the same `index.html`; which of them it is,
the page reads from its address. An exercise or track that does not exist is told so by the page
in words, and by the status to whoever follows links without reading them.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from judge.service.identity import Identity, hand_out_cookie
from judge.service.page import ASSETS, INDEX
from judge.service.parts import Parts, Student, TheParts

NOT_BUILT = (
    "The page of this judge was not built. In its checkout, `make setup` builds it; so does "
    "`npm ci && npm run build` in web/. Then start the judge again.\n"
    "The API works without it: /openapi.json describes it.\n"
)
READ: dict[str, Any] = {"methods": ["GET", "HEAD"]}

router = APIRouter(include_in_schema=False)
# Their addresses are those that nothing else has, so they come after all others.
files_router = APIRouter(include_in_schema=False)


@router.api_route("/", **READ)
async def get_catalogue_page(parts: TheParts, student: Student, request: Request) -> Response:
    """The catalogue."""
    return _index(parts, student, request, exists=True)


@router.api_route("/tracks/{track}", **READ)
async def get_track_page(
    track: str, parts: TheParts, student: Student, request: Request
) -> Response:
    """A track of the catalogue."""
    exists = any(each.id == track for each in parts.bank.tracks())
    return _index(parts, student, request, exists=exists)


@router.api_route("/problems/{slug}", **READ)
async def get_problem_page(
    slug: str, parts: TheParts, student: Student, request: Request
) -> Response:
    """An exercise."""
    return _index(parts, student, request, exists=parts.bank.current(slug) is not None)


@files_router.api_route("/assets/{name}", **READ)
async def get_asset(name: str, parts: TheParts, request: Request) -> Response:
    """A file whose name changes with its content."""
    return _file(parts, ASSETS + name, request)


@files_router.api_route("/{name}", **READ)
async def get_file(name: str, parts: TheParts, request: Request) -> Response:
    """Any other file."""
    return _file(parts, name, request)


def _index(parts: Parts, student: Identity, request: Request, *, exists: bool) -> Response:
    status = 200 if exists else 404
    index = parts.page.files.get(INDEX)
    response = (
        index.response(request.headers, status) if index else PlainTextResponse(NOT_BUILT, status)
    )
    hand_out_cookie(request, response, student)
    return response


def _file(parts: Parts, name: str, request: Request) -> Response:
    if name not in parts.page.files:
        raise HTTPException(404)
    return parts.page.files[name].response(request.headers)
