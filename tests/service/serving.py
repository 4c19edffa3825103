"""The API over a real database, with a stand-in for the worker that gives any verdict."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from judge.results import (
    Chart,
    CheckResult,
    Environment,
    Output,
    Result,
    TierResult,
)
from judge.service.api import create_app
from judge.service.bank import Bank
from judge.service.database import connected
from judge.service.doorbell import Doorbell
from judge.service.folding import replay
from judge.service.metrics import Metrics
from judge.service.page import Page
from judge.service.parts import Parts
from judge.service.queue import Queue
from judge.service.rates import PassRates
from judge.service.records import Claim
from judge.service.store import Store
from judge.settings import Settings
from judge.verdicts import Verdict
from tests.small_problem import write_problem

Maker = Callable[[Claim], Result]

TOKEN = {"Authorization": "Bearer a-student-of-this-test"}
OTHER = {"Authorization": "Bearer another-student-of-it"}
LOCAL = ("127.0.0.1", 50_000)
REMOTE = ("203.0.113.5", 50_000)
ADDRESS = "http://127.0.0.1:8000"
SOLUTION = "def double(x):\n    return 2 * x\n"
BODY: dict[str, Any] = {"problem": "double", "kind": "submit", "files": {"solution.py": SOLUTION}}
SCRIPT = b"let page;\n" * 200
PAGE = {
    "index.html": b"<!doctype html>\n<title>judge</title>\n",
    "theme.js": b"document.documentElement.dataset.theme = 'dark';\n",
    "assets/index-Ab12.js": SCRIPT,
    "assets/index-Ab12.js.br": b"as brotli",
    "assets/index-Ab12.js.gz": gzip.compress(SCRIPT, mtime=0),
    "assets/ruff-Cd34.wasm": b"\0asm",
    "assets/text-Ef56.woff2": b"wOF2",
    "assets/strange.xyz": b"?",
}
TRACKS = '[[tracks]]\nid = "papers"\ntitle = "Papers"\nsummary = "From papers."\n'


@dataclass(frozen=True)
class Api:
    """An API that a test talks to. `problems` is the folder that its bank reads."""

    app: FastAPI
    parts: Parts
    http: httpx.AsyncClient
    problems: Path

    @property
    def store(self) -> Store:
        return self.parts.store

    def client(self, peer: tuple[str, int] = LOCAL, address: str = ADDRESS) -> httpx.AsyncClient:
        """A client that seems to come from `peer`."""
        transport = httpx.ASGITransport(self.app, client=peer)
        return httpx.AsyncClient(transport=transport, base_url=address)

    async def submit(self, headers: dict[str, str] = TOKEN, **changed: object) -> str:
        """The id of a new submission."""
        answer = await self.http.post("/api/submissions", json=BODY | changed, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def claim(self, submission_id: str) -> Claim:
        """Take a submission as a worker does."""
        submission = await self.store.submission(submission_id)
        assert submission is not None
        claim = await self.store.claim(submission.judging.id, "worker-of-the-test")
        assert claim is not None
        return claim

    async def finish(self, submission_id: str, make: Maker | None = None) -> Result:
        """Give a submission its verdict: accepted, or the one that `make` makes."""
        return await self.finish_claim(await self.claim(submission_id), make)

    async def finish_claim(self, claim: Claim, make: Maker | None = None) -> Result:
        """Give its verdict to what a worker has taken."""
        result = make(claim) if make else judged(claim)
        events = list(replay(result))
        assert await self.store.append(claim, events[:-1])
        assert await self.store.finish(claim, result, events[-1:], events)
        return result


def run_with_api(
    database_url: str,
    folder: Path,
    test: Callable[[Api], Coroutine[None, None, None]],
    *,
    loopback: bool = True,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Run a test against the API of a fresh database with the small problem in it."""

    async def run() -> None:
        async with open_api(database_url, folder, loopback=loopback, settings=settings) as api:
            await test(api)

    asyncio.run(run())


@asynccontextmanager
async def open_api(
    database_url: str, folder: Path, *, loopback: bool, settings: Mapping[str, object]
) -> AsyncIterator[Api]:
    """The API of a database, with the small problem in it."""
    write_problem(folder)
    (folder / "tracks.toml").write_text(TRACKS, encoding="utf-8")
    page = write_page(folder.with_name(f"{folder.name}-page"))
    async with connected(database_url) as database:
        queue = Queue(database_url, database)
        store = Store(database, queue)
        bank = Bank(folder, store.publish)
        await bank.refresh()
        parts = Parts(
            store=store,
            doorbell=Doorbell(database_url),
            bank=bank,
            rates=PassRates(store, kept_s=0.0),
            settings=Settings.model_validate({"problems": folder, **settings}),
            render_metrics=Metrics(store, queue).render,
            stopping=asyncio.Event(),
            bound_to_loopback=loopback,
            page=Page.read(page),
        )
        app = create_app(parts)
        transport = httpx.ASGITransport(app, client=LOCAL)
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as http:
            yield Api(app, parts, http, folder)


def write_page(folder: Path) -> Path:
    """A page as the build leaves it."""
    for name, content in PAGE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@asynccontextmanager
async def served(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """The same API behind a real server with its doorbell, for what has to be streamed."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(api.app, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    listening = asyncio.create_task(api.parts.doorbell.run())
    serving = asyncio.create_task(server._serve([listener]))
    try:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=address, timeout=10, trust_env=False) as http:
            yield http
    finally:
        api.parts.stopping.set()
        server.should_exit = True
        await serving
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def judged(
    claim: Claim, verdict: Verdict = Verdict.AC, text: str = "", charts: list[Chart] | None = None
) -> Result:
    """A result in which every tier has one check, with `text` wherever a student's text may be."""
    tiers = [
        TierResult(
            id=tier,
            title=tier,
            verdict=verdict,
            passed=int(verdict is Verdict.AC),
            total=1,
            checks=[
                CheckResult(
                    id="test_call", title="It can be called.", kind="interface", why="Later.",
                    verdict=verdict, message=text,
                )
            ],
        )
        for tier in ("T0", "T1")
    ]  # fmt: skip
    limits: dict[str, Any] = {
        "wall_s": 5, "cpu_s": 5, "memory_bytes": 1 << 29, "output_bytes": 1 << 16,
        "source_bytes": 1 << 16,
    }  # fmt: skip
    return Result.model_validate({
        "id": claim.submission, "problem": claim.problem, "problem_version": claim.version,
        "kind": claim.kind, "state": "finished", "verdict": verdict, "limits": limits,
        "score": float(verdict is Verdict.AC), "tiers": tiers, "seed": claim.seed,
        "charts": [chart()] if charts is None else charts, "output": Output(text=text),
        "environment": Environment(sandbox="none", image="", torch="", numpy=""),
    })  # fmt: skip


def chart(chart_id: str = "weights", text: str = "a") -> Chart:
    """A chart with two bars."""
    return Chart.model_validate({
        "id": chart_id, "tier": "T1", "title": "Weights", "source": "submission",
        "spec": {
            "mark": "bar",
            "encoding": {
                "x": {"field": "key", "type": "nominal"},
                "y": {"field": "weight", "type": "quantitative"},
            },
        },
        "table": [{"key": text, "weight": 0.25}, {"key": "b", "weight": 0.75}],
    })  # fmt: skip
