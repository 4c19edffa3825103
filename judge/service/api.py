"""The API: routes, guard and error answers put together, and the schema of it all.

Theory of operation
-------------------
A request passes the guard (host, origin, size), then the boundary that answers faults, then its
route. A route reads what it needs from the store and the bank, both passed in, and answers. It
holds no state and never judges: what it knows, every other API process knows as well.

`openapi.json` beside this file is generated from here (`python -m judge.service.api`); a test
keeps it current, and clients are generated from it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from judge.service import (
    author_api,
    errors,
    language,
    operations_api,
    page_api,
    problems_api,
    submissions_api,
)
from judge.service.errors import Boundary, ErrorReport
from judge.service.guard import Guard
from judge.service.models import STREAM_DATA
from judge.service.parts import Parts
from judge.service.stream import EventStream

OPENAPI_FILE = Path(__file__).with_name("openapi.json")
TITLE = "judge"
API_VERSION = "1"
DESCRIPTION = """\
Exercises, submissions and their verdicts.

Nobody needs an account. Whoever sends `Authorization: Bearer` with a token of their own choice is
known by it; a browser is given a cookie; at the judge's own machine neither is needed. Without any
of them a submission can be read by whoever knows its id.

Every refusal is `application/problem+json` (RFC 9457) with a sentence that says what to do.
"""
TAGS = [
    {"name": "problems", "description": "The exercises"},
    {"name": "submissions", "description": "Submitting, verdicts, streams and charts"},
    {"name": "author", "description": "What `judge dev` shows whoever writes an exercise"},
    {"name": "operations", "description": "For whoever runs the service"},
]
REF = "#/components/schemas/{model}"
SECURITY_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "20 to 200 visible ASCII characters, chosen by the client",
    },
    "cookie": {"type": "apiKey", "in": "cookie", "name": "judge_student"},
}


def create_app(parts: Parts) -> FastAPI:
    """The application. Whoever runs it also runs the bank and the doorbell."""
    app = _routes()
    app.state.parts = parts
    errors.install(app)
    page_api.install(app)
    app.add_middleware(Boundary)
    app.add_middleware(Guard, allowed_hosts=parts.settings.allowed_hosts.split(","))
    return app


def _routes() -> FastAPI:
    """The application without anything behind it."""
    app = FastAPI(
        title=TITLE,
        version=API_VERSION,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        docs_url=None,  # it would load its scripts from somebody else's server
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    for module in (page_api, problems_api, submissions_api, author_api, operations_api):
        app.include_router(module.router)
    app.include_router(language.router)
    app.include_router(page_api.files_router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's documented way
    return app


def _operation_id(route: APIRoute) -> str:
    """The name of the function: clients are generated from it, so it does not change with paths."""
    return route.name


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The schema, with the parts that FastAPI cannot know of."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            tags=app.openapi_tags,
            routes=app.routes,
        )
        schemas = schema["components"]["schemas"]
        report = ErrorReport.model_json_schema(ref_template=REF)
        stream = STREAM_DATA.json_schema(ref_template=REF, mode="serialization")
        schemas |= {name: schemas.get(name, each) for name, each in stream.pop("$defs").items()}
        schemas |= {ErrorReport.__name__: report, "StreamData": stream}
        for content in _stream_contents(schema):
            content.pop("schema")  # says it is a text, and so contradicts itemSchema
        schema["components"]["securitySchemes"] = SECURITY_SCHEMES
        schema["security"] = [{}, *({name: []} for name in SECURITY_SCHEMES)]
        app.openapi_schema = schema
    return app.openapi_schema


def _stream_contents(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        answer["content"][EventStream.media_type]
        for path in schema["paths"].values()
        for operation in path.values()
        for answer in operation["responses"].values()
        if EventStream.media_type in answer.get("content", ())
    ]


def openapi_text() -> str:
    """The schema as it is committed."""
    return json.dumps(_routes().openapi(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    OPENAPI_FILE.write_text(openapi_text(), encoding="utf-8")
