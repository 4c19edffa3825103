"""The addresses of the page: its files, and those that it draws itself.

What is shown at `/`, at a track and at an exercise is the same `index.html`; which of them it is,
the page reads from its address. An exercise or track that does not exist is told so by the page
in words, and by the status to whoever follows links without reading them. So is an address that
is nothing at all, to a browser; programs are refused as everywhere.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from judge.service.errors import refused_by_framework
from judge.service.identity import Identity, hand_out_cookie
from judge.service.page import ASSETS, INDEX
from judge.service.parts import Parts, Student, TheParts

NOT_BUILT = (
    "The page of this judge was not built. In its checkout, `make setup` builds it; so does "
    "`npm ci && npm run build` in web/. Then start the judge again.\n"
    "The API works without it: /openapi.json describes it.\n"
)
READ: dict[str, Any] = {"methods": ["GET", "HEAD"]}
NOT_FOUND = 404
API = "/api"

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


# --- addresses that are nothing -------------------------------------------------------------------


def install(app: FastAPI) -> None:
    """Make `app` show the page where a browser looks and there is nothing."""
    app.add_exception_handler(NOT_FOUND, _nothing)


async def _nothing(request: Request, error: Exception) -> Response:
    """The page, which says so in words, to whoever takes pages; a refusal to everybody else."""
    parts: Parts = request.app.state.parts
    index = parts.page.files.get(INDEX)
    if index is None or _is_of_api(request) or not _takes_pages(request):
        return await refused_by_framework(request, error)
    response = index.response(request.headers, NOT_FOUND)
    response.headers.add_vary_header("Accept")
    return response


def _is_of_api(request: Request) -> bool:
    return f"{request.url.path}/".startswith(f"{API}/")


def _takes_pages(request: Request) -> bool:
    return request.method in READ["methods"] and "text/html" in request.headers.get("accept", "")


# --- answers --------------------------------------------------------------------------------------


def _index(parts: Parts, student: Identity, request: Request, *, exists: bool) -> Response:
    status = 200 if exists else NOT_FOUND
    index = parts.page.files.get(INDEX)
    response = (
        index.response(request.headers, status) if index else PlainTextResponse(NOT_BUILT, status)
    )
    hand_out_cookie(request, response, student)
    return response


def _file(parts: Parts, name: str, request: Request) -> Response:
    if name not in parts.page.files:
        raise HTTPException(NOT_FOUND)
    return parts.page.files[name].response(request.headers)
