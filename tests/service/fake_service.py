"""A service that says what a test tells it to, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from judge.events import Finished, Queued, Started, StreamEvent, TierFinished, TierStarted
from judge.results import Environment, Limits, Result, TierResult
from judge.verdicts import Verdict

LIMITS = Limits(wall_s=5, cpu_s=5, memory_bytes=1 << 29, output_bytes=65_536, source_bytes=65_536)
ID = "sub-1"
EVENTS = f"/api/submissions/{ID}/events"


@dataclass(frozen=True)
class Answer:
    """What the service answers. `lacking` announces more bytes than come; `drop` sends nothing."""

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    retry_after: str | None = None
    lacking: int = 0
    drop: bool = False


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Scripted = Answer | Callable[[Seen], Answer]


@dataclass
class FakeService:
    """Answers by method and path, in order; the last of them again and again."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    _answers: dict[tuple[str, str], list[Scripted]] = field(default_factory=dict)

    def on(self, method: str, path: str, *answers: Scripted) -> None:
        self._answers[method, path] = list(answers)

    def answer(self, request: Seen) -> Answer:
        self.seen.append(request)
        waiting = self._answers.get((request.method, request.path))
        if not waiting:
            return problem(404, f"There is no {request.path}.")
        scripted = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return scripted if isinstance(scripted, Answer) else scripted(request)

    def requests(self, method: str, path: str) -> list[Seen]:
        return [each for each in self.seen if (each.method, each.path) == (method, path)]

    def judges(self, verdict: Verdict = Verdict.AC) -> None:
        """Be a service that knows one problem and gives everything this verdict."""
        self.knows({ID: verdict}, lambda _request: ID)

    def knows(self, verdicts: dict[str, Verdict], submission_of: Callable[[Seen], str]) -> None:
        """Be a service that knows one problem; a verdict for each id, an id for each POST."""
        self.on("GET", "/api/problems/double", page())
        self.on("POST", "/api/submissions", lambda request: accepted(submission_of(request)))
        for name, verdict in verdicts.items():
            path = f"/api/submissions/{name}"
            self.on("GET", f"{path}/events", stream(*enumerate(events(verdict), start=1)))
            body = result(verdict).model_copy(update={"id": name}).model_dump_json()
            self.on("GET", path, Answer(200, body.encode()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: FakeService

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Seen(self.command, self.path, headers, self.rfile.read(length))
        answer = self.service.answer(request)
        self.close_connection = answer.drop or answer.lacking > 0
        if answer.drop:
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body) + answer.lacking))
        if answer.retry_after is not None:
            self.send_header("Retry-After", answer.retry_after)
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = handle_any  # noqa: N815  # the names that `http.server` calls

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        """Say nothing."""


@contextmanager
def fake_service() -> Iterator[FakeService]:
    service = FakeService()
    handler = type("Handler", (_Handler,), {"service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


def problem(status: int, detail: str, retry_after: str | None = None) -> Answer:
    body = json.dumps({"title": "No", "status": status, "detail": detail}).encode()
    return Answer(status, body, "application/problem+json", retry_after)


def accepted(name: str) -> Answer:
    return Answer(202, json.dumps({"id": name, "state": "queued"}).encode())


def page() -> Answer:
    tiers = [{"id": "T0", "title": "Interface"}, {"id": "T1", "title": "Oracle"}]
    files = [{"name": "solution.py", "role": "solution"}]
    body = {"slug": "double", "version": "v1", "files": files, "tiers": tiers}
    return Answer(200, json.dumps(body | {"limits": LIMITS.model_dump()}).encode())


def stream(*numbered: tuple[int | None, StreamEvent], lacking: int = 0, cut: bytes = b"") -> Answer:
    """Events with their ids, and at the end a piece of one that was cut short."""
    text = b": hello\nretry: 1000\n\n"
    for number, event in numbered:
        text += f"id: {number}\n".encode() if number is not None else b""
        text += f"event: {event.type}\ndata: {event.model_dump_json()}\n\n".encode()
    return Answer(200, text + cut, "text/event-stream", lacking=lacking)


def events(verdict: Verdict = Verdict.AC) -> list[StreamEvent]:
    passed = verdict is Verdict.AC
    return [
        Queued(ahead=0),
        Started(),
        TierStarted(tier="T0"),
        TierFinished(tier="T0", verdict=Verdict.AC, passed=1, total=1),
        TierStarted(tier="T1"),
        TierFinished(tier="T1", verdict=verdict, passed=int(passed), total=1),
        Finished(verdict=verdict, score=1.0 if passed else 0.5),
    ]


def result(verdict: Verdict = Verdict.AC) -> Result:
    passed = int(verdict is Verdict.AC)
    return Result(
        id=ID, problem="double", problem_version="v1", kind="submit", state="finished",
        verdict=verdict, score=0.5 + passed / 2, seed=1, limits=LIMITS,
        tiers=[tier("T0", "Interface", Verdict.AC), tier("T1", "Oracle", verdict)],
        environment=Environment(sandbox="fake", image="", torch="2", numpy="2"),
    )  # fmt: skip


def tier(name: str, title: str, verdict: Verdict) -> TierResult:
    passed = int(verdict is Verdict.AC)
    return TierResult(id=name, title=title, verdict=verdict, passed=passed, total=1, checks=[])
