"""What every request passes first, before anything of it is parsed.

Theory of operation
-------------------
A judge on somebody's own machine is reachable from every page their browser opens, so being bound
to 127.0.0.1 protects nothing by itself. Three rules do:

- **Host.** A page that makes its own name resolve to this machine (DNS rebinding) sends that name.
  Only names that are ours are answered. An IP literal cannot be rebound, so it may pass.
- **Origin.** A request that changes something, and a WebSocket, must come from our own page or
  from no page at all.
- **Content type.** A body is JSON: what a form on another page can send is refused. There is no
  CORS, so a browser asks nobody for an exception.

Bodies are read here, up to a bound, so that nothing behind ever holds more. Every answer, refusals
included, carries the headers that keep a browser from guessing or embedding.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.service.errors import ErrorKind, Refusal

BODY_LIMIT_BYTES = 256 * 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
WEBSOCKET = "websocket"  # has no method; what another page opens, that page could read
STARTS = ("http.response.start", "websocket.http.response.start")
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Authority:
    """`host[:port]` as a Host header has it: the name in lower case, without brackets or port."""

    host: str

    @classmethod
    def parse(cls, text: str) -> Authority | None:
        """The authority, or None when `text` is none."""
        if text.startswith("["):
            host, bracket, port = text[1:].partition("]")
            is_well_formed = bracket == "]" and (not port or _is_port(port[1:], port[0]))
        else:
            host, colon, port = text.partition(":")
            is_well_formed = not colon or _is_port(port, colon)
        host = host.lower().removesuffix(".")
        return cls(host) if is_well_formed and host else None

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The address, when the host is an IP literal."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def is_loopback(self) -> bool:
        """Whether this names the machine itself, and cannot name any other."""
        if self.address is not None:
            return self.address.is_loopback
        return self.host == "localhost" or self.host.endswith(".localhost")


def _is_port(digits: str, colon: str) -> bool:
    return colon == ":" and digits.isascii() and digits.isdigit()


class Guard:
    """The rules above, as ASGI middleware. `allowed_hosts` are the names this server has."""

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.allowed_hosts = frozenset(
            authority.host
            for name in (*allowed_hosts, socket.gethostname())
            if (authority := Authority.parse(name.strip())) is not None
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        guarded_send = _with_headers(send)
        try:
            method = scope.get("method", WEBSOCKET)
            self._check(method, Headers(scope=scope))
            if scope["type"] == "http" and method not in SAFE_METHODS:
                receive = await _read_body(receive, Headers(scope=scope))
        except Refusal as refusal:
            await refusal.response()(scope, receive, guarded_send)
        except ConnectionAbortedError:
            return  # nobody is left to answer
        else:
            await self.app(scope, receive, guarded_send)

    def _check(self, method: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        authority = Authority.parse(hosts[0]) if len(hosts) == 1 else None
        if authority is None or not self._is_ours(authority):
            detail = (
                "Use this server's address, or its name if the operator has listed it in "
                "JUDGE_ALLOWED_HOSTS."
            )
            raise Refusal(ErrorKind.UNKNOWN_HOST, detail)
        if method not in SAFE_METHODS:
            _check_origin(headers, hosts[0])
            _check_content_type(headers)

    def _is_ours(self, authority: Authority) -> bool:
        return (
            authority.address is not None
            or authority.is_loopback
            or authority.host in self.allowed_hosts
        )


def _check_origin(headers: Headers, host: str) -> None:
    """Refuse what another site's page sends; raises `Refusal`."""
    origins = headers.getlist("origin")
    is_foreign = any(origin.partition("://")[2].lower() != host.lower() for origin in origins)
    if is_foreign or headers.get("sec-fetch-site", "").strip().lower() == "cross-site":
        detail = "Send this from the judge's own page, or from a program without an Origin header."
        raise Refusal(ErrorKind.CROSS_SITE, detail)


def _check_content_type(headers: Headers) -> None:
    """Refuse bodies that do not say they are JSON; raises `Refusal`."""
    types = headers.getlist("content-type")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    is_json = [each.partition(";")[0].strip().lower() for each in types] == ["application/json"]
    if not is_json and (types or has_body):
        detail = "Send the body as JSON with the header Content-Type: application/json."
        raise Refusal(ErrorKind.WRONG_CONTENT_TYPE, detail)


async def _read_body(receive: Receive, headers: Headers) -> Receive:
    """Read the body and return a `receive` that gives it again, then what comes after it.

    Raises `Refusal` as soon as the body is known to be too large, `ConnectionAbortedError` when the
    client goes away before its end.
    """
    announced = headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or int(announced) > BODY_LIMIT_BYTES:
        raise _too_large()
    body = bytearray()
    more_body = True
    while more_body:
        message = await receive()
        if message["type"] != "http.request":
            raise ConnectionAbortedError
        body += message.get("body", b"")
        more_body = message.get("more_body", False)
        if len(body) > BODY_LIMIT_BYTES:
            raise _too_large()
    pending: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


def _too_large() -> Refusal:
    detail = (
        f"A request may have {BODY_LIMIT_BYTES // 1024} KiB; the exercise says how much source a "
        "submission may have. Send less."
    )
    return Refusal(ErrorKind.TOO_LARGE, detail)


def _with_headers(send: Send) -> Send:
    """A `send` that adds the headers of every answer, unless the answer has its own."""

    async def guarded(message: Message) -> None:
        if message["type"] in STARTS:
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded
