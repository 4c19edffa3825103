"""What the service answers when it does not do what was asked: RFC 9457, and a sentence.

    Exception
    ├── Refusal           expected: the request, or the moment, is wrong; says what to do
    ├── (database away)   any of `DATABASE_AWAY`: 503, try again
    └── anything else     a fault of ours: 500 that names nothing but the number in our log

Every answer that is not a success is `application/problem+json`, with a `type` a program can tell
apart and a `detail` a person can act on.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from enum import Enum

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.results import Record
from judge.service.database import DATABASE_AWAY

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_DATABASE_S = 2
LOG = structlog.get_logger()


class ErrorKind(Enum):
    """Every way to be refused: its name in `type`, its HTTP status, its title."""

    UNREADABLE_BODY = ("unreadable-body", 400, "The request cannot be read")
    BAD_CREDENTIALS = ("bad-credentials", 401, "The credentials are not valid")
    CROSS_SITE = ("cross-site", 403, "The request comes from another site")
    NOT_SOLVED = ("not-solved", 403, "The exercise is not solved yet")
    UNKNOWN_EXERCISE = ("unknown-exercise", 404, "There is no such exercise")
    UNKNOWN_SUBMISSION = ("unknown-submission", 404, "There is no such submission")
    UNKNOWN_CHART = ("unknown-chart", 404, "There is no such chart")
    NOT_AUTHORING = ("not-authoring", 404, "The exercise is not being written here")
    NOT_PROVEN = ("not-proven", 404, "There is no proof yet")
    UNKNOWN_ADDRESS = ("unknown-address", 404, "There is nothing at this address")
    WRONG_METHOD = ("wrong-method", 405, "This address does not take this method")
    NEEDS_UNMET = ("needs-unmet", 409, "What this exercise builds on is not passed yet")
    NOT_FINISHED = ("not-finished", 409, "The submission is not judged yet")
    TOO_LARGE = ("too-large", 413, "The submission is too large")
    WRONG_CONTENT_TYPE = ("wrong-content-type", 415, "The body is not JSON")
    UNKNOWN_HOST = ("unknown-host", 421, "This server does not answer to that name")
    INVALID = ("invalid", 422, "The request is not valid")
    WRONG_FILES = ("wrong-files", 422, "These are not the files of the exercise")
    NO_TESTS = ("no-tests", 422, "The exercise takes no tests")
    KEY_REUSED = ("key-reused", 422, "The idempotency key was used before")
    QUEUE_FULL = ("queue-full", 429, "The queue is full")
    TOO_MANY_WAITING = ("too-many-waiting", 429, "Too many of your submissions are waiting")
    TOO_MANY_STREAMS = ("too-many-streams", 429, "Too many of your streams are open")
    QUOTA = ("quota", 429, "The quota is used up")
    FAULT = ("fault", 500, "Something of ours failed")
    UNDRAWABLE_CHART = ("undrawable-chart", 500, "The chart cannot be drawn")
    NO_RENDERER = ("no-renderer", 501, "Charts cannot be drawn here")
    NO_LANGUAGE_SERVER = ("no-language-server", 503, "Completion is not available")
    DATABASE_AWAY = ("database-away", 503, "The database does not answer")

    def __init__(self, name: str, status: int, title: str) -> None:
        self.uri = f"urn:judge:{name}"
        self.status = status
        self.title = title


class ErrorReport(Record):
    """The body of every answer that is not a success (RFC 9457)."""

    type: str = Field(description="names the kind of error, for programs")
    title: str
    status: int
    detail: str = Field(description="a sentence that says what to do")
    retry_after_s: float | None = Field(default=None, description="when to try again, if known")


class Refusal(Exception):
    """The service does not do what was asked. `retry_after_s` when waiting will help."""

    def __init__(
        self,
        kind: ErrorKind,
        detail: str,
        *,
        retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The refusal as an answer."""
        report = ErrorReport(
            type=self.kind.uri,
            title=self.kind.title,
            status=self.kind.status,
            detail=str(self),
            retry_after_s=self.retry_after_s,
        )
        headers = dict(self.headers)
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(max(1, round(self.retry_after_s)))
        # A detail may quote what was sent: ASCII only, so that no lone surrogate can break it.
        body = json.dumps(report.model_dump(exclude_none=True)).encode("ascii")
        return Response(body, self.kind.status, headers, MEDIA_TYPE)


def database_away() -> Refusal:
    """The answer while the database cannot be reached."""
    detail = (
        "The database does not answer just now. Try again in a moment; with an Idempotency-Key "
        "nothing is taken twice."
    )
    return Refusal(ErrorKind.DATABASE_AWAY, detail, retry_after_s=RETRY_AFTER_DATABASE_S)


# --- the application's handlers -------------------------------------------------------------------


def install(app: FastAPI) -> None:
    """Make `app` answer every error as described above, but for faults: see `Boundary`."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, refused_by_framework)
    app.add_exception_handler(RequestValidationError, _invalid)
    for error in DATABASE_AWAY:
        app.add_exception_handler(error, _database_is_away)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error.response()


async def _database_is_away(request: Request, error: Exception) -> Response:
    LOG.warning("database away", path=request.url.path, error=type(error).__name__)
    return database_away().response()


async def refused_by_framework(request: Request, error: Exception) -> Response:
    """What the router refuses, and bodies that cannot be parsed."""
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404:
            kind, detail = ErrorKind.UNKNOWN_ADDRESS, "See /openapi.json for what there is."
        case 405:
            allowed = _allowed_methods(request) or (error.headers or {}).get("Allow", "")
            kind, detail = ErrorKind.WRONG_METHOD, f"Use {allowed} here."
            return Refusal(kind, detail, headers={"Allow": allowed}).response()
        case 400:
            kind, detail = ErrorKind.UNREADABLE_BODY, "The body cannot be read as JSON."
        case _:
            return fault(error).response()
    return Refusal(kind, detail, headers=error.headers).response()


def _allowed_methods(request: Request) -> str:
    """What an address takes by the schema; the router only knows one of its operations."""
    app: FastAPI = request.app
    return ", ".join(
        sorted(
            method.upper()
            for path, operations in app.openapi()["paths"].items()
            if compile_path(path)[0].match(request.url.path)
            for method in operations
        )
    )


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if any(each["type"] == "json_invalid" for each in problems):
        position = problems[0]["loc"][-1]
        detail = f"The body is not valid JSON: see character {position}."
        return Refusal(ErrorKind.UNREADABLE_BODY, detail).response()
    detail = " ".join(_sentence(each["loc"], each["msg"]) for each in problems[:5])
    return Refusal(ErrorKind.INVALID, detail).response()


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    """For example: `kind` in the body: input should be 'submit', 'run' or 'tests'."""
    part, *path = map(str, location)
    name = ".".join(each[:80] for each in path)
    where = f"`{name}` in the {part}" if name else f"the {part}"
    return f"{where[0].upper()}{where[1:]}: {message[0].lower()}{message[1:]}."


# --- faults ---------------------------------------------------------------------------------------


def fault(error: Exception) -> Refusal:
    """The answer to a fault of ours; its number is logged with what happened."""
    number = secrets.token_hex(4)
    LOG.error("fault", number=number, exc_info=error)
    detail = f"This was our fault, not yours. It is in the server's log as {number}."
    return Refusal(ErrorKind.FAULT, detail)


class Boundary:
    """Answers faults, inside the guard so that this answer too has its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            # The boundary of the application: whatever was not foreseen ends here. When an answer
            # has begun it can only be cut off.
            if started or scope["type"] != "http":
                raise
            await fault(error).response()(scope, receive, send)
