"""For whoever runs the service: is it alive, does it judge, how is it doing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastapi import APIRouter, Response
from sqlalchemy.exc import ProgrammingError

from judge.service.database import DATABASE_AWAY
from judge.service.errors import ErrorKind
from judge.service.metrics import CONTENT_TYPE
from judge.service.models import Health, Readiness, refusals
from judge.service.parts import Parts, TheParts
from judge.service.records import WorkerRow

router = APIRouter(tags=["operations"])


@router.get("/healthz", summary="Does the process answer?", responses=refusals())
async def get_health() -> Health:
    """Yes. Says nothing about the database or the workers: see `/readyz`."""
    return Health()


@router.get(
    "/readyz",
    summary="Are submissions judged now?",
    responses={503: {"model": Readiness, "description": "No; says why not"}, **refusals()},
)
async def get_readiness(parts: TheParts, response: Response) -> Readiness:
    """Ready when the database answers and at least one worker can judge."""
    reasons = await _reasons(parts)
    if reasons:
        response.status_code = 503
    return Readiness(ready=not reasons, reasons=reasons)


@router.get(
    "/metrics",
    status_code=200,
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **refusals(ErrorKind.DATABASE_AWAY),
    },
)
async def get_metrics(parts: TheParts) -> Response:
    """Queue, verdicts, latency and boxes."""
    return Response(await parts.render_metrics(), media_type=CONTENT_TYPE)


async def _reasons(parts: Parts) -> list[str]:
    """Why nothing would be judged now; empty when it would."""
    if parts.stopping.is_set():
        return ["This server is stopping."]
    try:
        await parts.store.ping()
        workers = await parts.store.workers()
    except DATABASE_AWAY:
        return ["The database does not answer."]
    except ProgrammingError:
        return ["The database has another schema: restart `judge serve`, which migrates it."]
    return list(_why_idle(workers))


def _why_idle(workers: Sequence[WorkerRow]) -> Iterator[str]:
    """Why no worker would take a submission; nothing when one would."""
    if any(worker.state == "ready" for worker in workers):
        return
    if not workers:
        yield "No worker is running: start `judge work`."
    for worker in workers:
        why = f": {worker.why}" if worker.why else ""
        yield f"Worker {worker.host}/{worker.pid} is {worker.state}{why}."
