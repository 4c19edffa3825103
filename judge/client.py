"""The service's HTTP contract from the other side: what `judge submit` and `judge bench` speak.

Theory of operation
-------------------
Everything here may be repeated without harm. A submission carries an Idempotency-Key, so a client
that lost the answer sends it again and gets the same submission; events have ids, so one that lost
the stream goes on after the last it saw. So a connection that breaks, a service that restarts (503)
and one that asks to wait (429 with Retry-After) are retried, for as long as `patience_s` allows,
and only what lasts becomes an error:

    ClientError
    ├── NotSendable    it could not even be sent: an address or a file is not what it must be
    ├── Refused        the service said no; the message is its own sentence
    ├── Unreachable    no service answers there, or it stopped answering
    └── NotUnderstood  something answers, but not as this contract says

A service that never answered is not waited for: that is a wrong address, or nobody started it.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Self, TypeVar, get_args
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from judge.events import STREAM_EVENT, Finished, Queued, StreamEvent
from judge.results import Kind, Limits, Result
from judge.sse import Frame, frames
from sandbox.text import one_line, printable

PATIENCE_S = 60.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0
CONNECT_S = 5.0
ANSWER_S = 30.0
SILENCE_S = 40.0  # of an event stream, which says something every 15 s
NEEDS_UNMET = "urn:judge:needs-unmet"
TOKEN_FILE = "token"  # noqa: S105  # a file's name
MAX_SENTENCE = 600
POSITION = "position"  # how many are ahead by now; not an event of the submission, so without id
EVENT_TYPES = frozenset(
    model.model_fields["type"].default for model in get_args(get_args(StreamEvent)[0])
)
Answer = TypeVar("Answer", bound=BaseModel)
TRY_AGAIN = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


class ClientError(Exception):
    """The service did not do what was asked; the message is for people."""


class NotSendable(ClientError):
    """An address or a file is not what it must be."""


class Refused(ClientError):
    """The service said no, with this status and this sentence; `kind` names why, for programs."""

    def __init__(self, status: int, sentence: str, kind: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.kind = kind

    @property
    def is_theirs(self) -> bool:
        """Whether the fault is the service's and not that of what was asked."""
        return self.status >= HTTPStatus.INTERNAL_SERVER_ERROR

    @property
    def is_unmet(self) -> bool:
        """Whether exercises that this one builds on have to be solved first."""
        return self.kind == NEEDS_UNMET


class Unreachable(ClientError):
    """No service answers."""


class NotUnderstood(ClientError):
    """What answers does not keep to the contract."""


class TierCard(BaseModel):
    """What a client shows of a tier."""

    id: str
    title: str
    advisory: bool = False


class FileCard(BaseModel):
    """A file the problem asks for."""

    name: str
    role: str


class ProblemExcerpt(BaseModel):
    """What a client needs to know of a problem; the service says more."""

    slug: str
    version: str
    files: list[FileCard]
    tiers: list[TierCard]
    limits: Limits

    @property
    def main_file(self) -> str:
        """The file a single file is taken for."""
        return next(file.name for file in self.files if file.role == "solution")


class Client:
    """One person's connection to the service at `server`; for one thread.

    `token` says who it is; "" leaves that to the service. Every method raises `ClientError`.
    """

    def __init__(self, server: str, token: str = "", *, patience_s: float = PATIENCE_S) -> None:
        self.server = server.rstrip("/")
        self._patience_s = patience_s
        self._answered = False
        self._http = httpx.Client(
            base_url=_address(self.server),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
            trust_env=not is_loopback(self.server),  # a proxy does not lead to this machine
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def ready(self) -> bool:
        """Whether the service answers and can judge. One try."""
        return self._says_ok("/readyz")

    def alive(self) -> bool:
        """Whether the service answers, be it able to judge or not. One try."""
        return self._says_ok("/healthz")

    def metrics(self) -> str:
        """The service's figures, as text for Prometheus."""
        return self._answer(self._http.build_request("GET", "/metrics")).text

    def problem(self, slug: str) -> ProblemExcerpt:
        """What the service says about a problem."""
        response = self._answer(
            self._http.build_request("GET", f"/api/problems/{quote(slug, safe='')}")
        )
        return _parsed(ProblemExcerpt, response)

    def submit(
        self,
        slug: str,
        files: Mapping[str, bytes],
        kind: Kind = "submit",
        *,
        ref_deps: bool = False,
    ) -> str:
        """Send a submission; its id. However often it has to be sent, it is one submission.

        With `ref_deps` it is judged on top of references, not of the student's own solutions.
        """
        body: dict[str, object] = {"problem": slug, "files": _texts(files), "kind": kind}
        if ref_deps:
            body["ref_deps"] = True
        headers = {"Idempotency-Key": secrets.token_urlsafe(24)}
        request = self._http.build_request("POST", "/api/submissions", json=body, headers=headers)
        return _parsed(_Accepted, self._answer(request)).id

    def result(self, submission: str) -> Result:
        """The submission as it stands."""
        request = self._http.build_request("GET", f"/api/submissions/{submission}")
        return _parsed(Result, self._answer(request))

    def follow(self, submission: str) -> Iterator[StreamEvent]:
        """The events of a submission, each once, until it is finished.

        While it waits, `Queued` comes again with the number that is then ahead.
        """
        waiting = _Waiting(self._patience_s)
        last: str | None = None
        while True:
            try:
                for frame in self._frames(submission, last):
                    waiting.begin_anew()
                    if frame is None:
                        continue
                    event = _event(frame)
                    if event is not None:
                        yield event
                    last = frame.id or last
                    if isinstance(event, Finished):
                        return
            except httpx.TransportError as error:
                lost: Exception | None = error
            else:
                lost = None
            if not waiting.pause():
                raise self._gone(lost) from None

    def _frames(self, submission: str, last: str | None) -> Iterator[Frame | None]:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        timeout = httpx.Timeout(SILENCE_S, connect=CONNECT_S)
        path = f"/api/submissions/{submission}/events"
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if response.status_code in TRY_AGAIN:
                return
            if not response.is_success:
                response.read()
                raise _refusal(response)
            self._answered = True
            yield from frames(response.iter_bytes())

    def _says_ok(self, path: str) -> bool:
        try:
            return self._http.get(path).status_code == HTTPStatus.OK
        except httpx.TransportError:
            return False

    def _answer(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request that may be repeated."""
        waiting = _Waiting(self._patience_s)
        while True:
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                never = not self._answered and isinstance(error, httpx.ConnectError)
                if never or not waiting.pause():
                    raise self._gone(error) from None
                continue
            self._answered = True
            if response.is_success:
                return response
            again = response.status_code in TRY_AGAIN
            if not again or not waiting.pause(_retry_after_s(response)):
                raise _refusal(response)

    def _gone(self, error: Exception | None) -> Unreachable:
        cause = one_line(str(error)) if error else "the stream of events ended"
        words = "stopped answering" if self._answered else "does not answer"
        return Unreachable(f"The judge at {self.server} {words} ({cause or 'no answer'}).")


class _Accepted(BaseModel):
    id: str


class _Problem(BaseModel):
    """An error as `application/problem+json`."""

    type: str = ""
    title: str = ""
    detail: str = ""


class _Waiting:
    """Pauses between tries, each twice as long as the one before, within a limit in all."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.begin_anew()

    def begin_anew(self) -> None:
        """Something was heard: patience is whole again."""
        self._end = time.monotonic() + self._patience_s
        self._pause_s = FIRST_PAUSE_S

    def pause(self, asked_s: float | None = None) -> bool:
        """Wait, for `asked_s` where the service asks for that; False when it cannot be afforded."""
        pause_s = self._pause_s if asked_s is None else asked_s
        if time.monotonic() + pause_s > self._end:
            return False
        time.sleep(pause_s)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        return True


def is_loopback(server: str) -> bool:
    """Whether an address is this very machine's."""
    try:
        host = httpx.URL(server).host
    except httpx.InvalidURL:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def kept_token(folder: Path) -> str:
    """The token kept in `folder`, made there the first time, so that one person stays one.

    Raises `NotSendable` when it can neither be read nor written.
    """
    path = folder / TOKEN_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123  # a descriptor
                file.write(secrets.token_urlsafe(32) + "\n")
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotSendable(f"{path}: the token cannot be kept here ({error}).") from None
    if not token:
        raise NotSendable(f"{path}: holds no token. Delete it: a new one is made.")
    return token


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    texts = {}
    for name, source in files.items():
        try:
            texts[name] = source.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"byte {error.start + 1} is not UTF-8"
            raise NotSendable(f"{name}: {where}. Save the file in that encoding.") from None
    return texts


def _parsed(model: type[Answer], response: httpx.Response) -> Answer:
    try:
        return model.model_validate_json(response.content)
    except ValidationError:
        raise NotUnderstood(
            f"What answers at {response.url} is no judge of this version."
        ) from None


def _event(frame: Frame) -> StreamEvent | None:
    """The event in a frame; None for a kind that a later version may have added."""
    try:
        if frame.event == POSITION:
            return Queued.model_validate_json(frame.data)
        return STREAM_EVENT.validate_json(frame.data) if frame.event in EVENT_TYPES else None
    except ValidationError:
        raise NotUnderstood(f"The judge sent an event that is not one: {frame.event}.") from None


def _refusal(response: httpx.Response) -> Refused:
    """The sentence of a problem document; the status in words where there is none."""
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:
        problem = _Problem()
    words = problem.detail or problem.title or f"The judge answered {response.status_code}."
    return Refused(response.status_code, printable(words, MAX_SENTENCE), problem.type)


def _retry_after_s(response: httpx.Response) -> float | None:
    """The seconds a service asks to wait. The other form, a date, is not used by ours."""
    asked = response.headers.get("Retry-After", "")
    return float(asked) if asked.isascii() and asked.isdigit() else None


def _address(server: str) -> httpx.URL:
    try:
        address = httpx.URL(server)
    except httpx.InvalidURL:
        address = httpx.URL("")
    if address.scheme not in ("http", "https") or not address.host:
        raise NotSendable(f"{one_line(server)}: not an address such as http://127.0.0.1:8000.")
    return address
