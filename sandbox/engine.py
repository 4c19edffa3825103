"""The Docker engine: how it is reached, and what its refusals and silences become.

Every use of the SDK goes through `connect`, and through `errors` where it may fail, so that nothing
of the SDK's or of the HTTP library's exceptions is known elsewhere.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import docker
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

from sandbox.boxes import EngineGone, SandboxError

START = "Start Docker; DOCKER_HOST says which engine is used."
JOIN = "Add this user to the docker group, and log in again."
CONNECT_S = 5.0
MESSAGE_CHARS = 300


def connect(url: str, silence_s: int) -> docker.DockerClient:
    """A client of the engine at `url`, to be closed by the caller.

    A request that gets no byte for `silence_s` seconds fails. Raises `EngineGone`.
    """
    _knock(url)
    try:
        return docker.DockerClient(base_url=url, timeout=silence_s, version="auto")
    except (DockerException, RequestException) as error:
        raise EngineGone(f"no Docker engine answers at {url} ({words(error)})", START) from None


@contextlib.contextmanager
def connected(url: str, silence_s: int) -> Iterator[docker.DockerClient]:
    """`connect`, with `errors` translated and the client closed."""
    client = connect(url, silence_s)
    try:
        with errors("answer"):
            yield client
    finally:
        client.close()


@contextlib.contextmanager
def errors(what: str) -> Iterator[None]:
    """Translate what the SDK raises while the engine is to do `what`."""
    try:
        yield
    except APIError as error:
        raise SandboxError(f"the Docker engine refused to {what}: {words(error)}") from None
    except (DockerException, RequestException) as error:
        raise EngineGone(f"the Docker engine could not {what} ({words(error)})", START) from None


def words(error: Exception) -> str:
    """The engine's own words where it gave some, else the first line of the exception."""
    text = str(getattr(error, "explanation", None) or error).strip()
    return (text.splitlines() or [type(error).__name__])[0][:MESSAGE_CHARS]


def _knock(url: str) -> None:
    """Try the socket first: the SDK takes long to say less, and leaks the one it tried."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return
    with socket.socket(socket.AF_UNIX) as knocker:
        knocker.settimeout(CONNECT_S)
        try:
            knocker.connect(parts.path)
        except PermissionError:
            raise EngineGone(f"the Docker engine at {url} is not ours to use", JOIN) from None
        except OSError as error:
            cause = error.strerror or "no answer"
            raise EngineGone(f"no Docker engine answers at {url} ({cause})", START) from None
