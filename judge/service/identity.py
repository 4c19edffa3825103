"""Who is asking. There are no accounts: a student is whoever holds the same secret as before.

In this order: a bearer token the client chose, the cookie we gave, the person at this machine, and
at last the address a request comes from. Secrets are hashed at once and never stored or logged.
Only an address is no secret: what is sent from one is `open`, readable by its unguessable id.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from judge.service.errors import ErrorKind, Refusal
from judge.service.guard import Authority

COOKIE = "judge_student"
COOKIE_MAX_AGE_S = 365 * 24 * 3600
_BEARER = re.compile(r"bearer +([!-~]{20,200})", re.IGNORECASE)
_COOKIE_VALUE = re.compile(r"[A-Za-z0-9_-]{32,200}")
_FORWARDING = (
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    "x-forwarded-server", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip",
)  # fmt: skip


@dataclass(frozen=True)
class Identity:
    """A student as the store knows them.

    `credentialed` is false where only the address is known; `local` is true for the person at the
    machine the judge runs on.
    """

    student: str
    credentialed: bool
    local: bool = False


def identify(request: HTTPConnection, *, bound_to_loopback: bool) -> Identity:
    """The student behind a request; raises `Refusal` when its credentials have no valid form."""
    authorization = request.headers.get("authorization")
    if authorization is not None:
        return Identity(f"t:{_digest(_token(authorization))}", credentialed=True)
    cookie = _cookie(request)
    if cookie is not None:
        return Identity(f"t:{_digest(cookie)}", credentialed=True)
    if bound_to_loopback and _is_local(request):
        return Identity("local", credentialed=True, local=True)
    return Identity(f"a:{_digest(_network(request))}", credentialed=False)


def hand_out_cookie(request: Request, response: Response, identity: Identity) -> None:
    """Give a student who is known by nothing but an address a secret to be known by."""
    if not identity.credentialed:
        response.set_cookie(
            COOKIE,
            secrets.token_urlsafe(32),
            max_age=COOKIE_MAX_AGE_S,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        response.headers["Cache-Control"] = "no-store"  # no cache may hand it to anybody else


def _token(authorization: str) -> str:
    match = _BEARER.fullmatch(authorization.strip())
    if match is None:
        detail = (
            "Send `Authorization: Bearer` and a token of your own choice, 20 to 200 visible ASCII "
            "characters, or no such header at all."
        )
        headers = {"WWW-Authenticate": "Bearer"}
        raise Refusal(ErrorKind.BAD_CREDENTIALS, detail, headers=headers)
    return match[1]


def _cookie(request: HTTPConnection) -> str | None:
    """The cookie we gave; one that we cannot have given counts as none."""
    value = request.cookies.get(COOKIE, "")
    return value if _COOKIE_VALUE.fullmatch(value) else None


def _is_local(request: HTTPConnection) -> bool:
    """Whether the client is on this machine, and no proxy on it speaks for somebody else."""
    host = Authority.parse(request.headers.get("host", ""))
    peer = Authority(request.client.host) if request.client else None
    return (
        peer is not None
        and peer.address is not None
        and peer.is_loopback
        and host is not None
        and host.is_loopback
        and not any(name in request.headers for name in _FORWARDING)
    )


def _network(request: HTTPConnection) -> str:
    """The address of the client; of IPv6 the /64, since one machine has all of it."""
    peer = Authority(request.client.host) if request.client else Authority("")
    address = peer.address
    if not isinstance(address, ipaddress.IPv6Address):
        return peer.host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), 64), strict=False))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:32]
