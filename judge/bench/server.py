"""A service of our own for the time of a measurement: `judge serve` as an operator would start it.

It has its own database, in a temporary folder, and a port that was free a moment before. Where
this process may make control groups it starts in one of its own, so that everything it starts can
be counted (`judge.bench.groups`).
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.bench.baselines import PACKAGES
from judge.bench.groups import Group, own_group
from judge.client import Client
from sandbox.boxes import SandboxError
from sandbox.choose import SandboxName

READY_S = 300.0
POLL_S = 0.1
STOP_S = 60.0
LAST_CHARS = 2000
FOLDER_MODE = 0o711  # the embedded database may run as another user


@dataclass(frozen=True)
class Service:
    """A service to measure; `group` holds its processes where it is our own and that can be."""

    url: str
    group: Group | None = None


@contextmanager
def own_service(sandbox: SandboxName, slots: int = 0) -> Iterator[Service]:
    """`judge serve`, ready to judge; `slots` 0 leaves their number to it.

    Raises `SandboxError` with its last words when it ends before.
    """
    with TemporaryDirectory(prefix="judge-bench-") as temporary, own_group() as group:
        folder = Path(temporary)
        folder.chmod(FOLDER_MODE)
        port = _free_port()
        log = folder / "serve.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["env", f"JUDGE_DATA={folder / 'data'}", f"JUDGE_SANDBOX={sandbox}",
                 "JUDGE_DATABASE_URL=", "JUDGE_HOURLY_QUOTA=0", f"JUDGE_SLOTS={slots or ''}",
                 sys.executable, "-m", "judge", "serve", "--port", str(port)],
                cwd=PACKAGES, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        if group:
            group.add(process.pid)
        try:
            service = Service(f"http://127.0.0.1:{port}", group)
            _wait_until_ready(service, process, log)
            yield service
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(service: Service, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_S
    with Client(service.url) as client:
        while not client.ready():
            if process.poll() is not None or time.monotonic() > end:
                what = "ended" if process.poll() is not None else "did not become ready"
                said = log.read_text(encoding="utf-8", errors="replace")[-LAST_CHARS:].strip()
                raise SandboxError(f"judge serve {what}: {said}")
            time.sleep(POLL_S)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
