"""A service of our own for the time of a measurement, started as an operator would start it.

`judge serve` has its own database, in a temporary folder, and a port that was free a moment before;
`judge work` may join it. Where this process may make control groups they start in one of their own,
so that everything they start can be counted (`judge.bench.groups`).
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

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

    def has_at_rest(self, workers: int) -> bool:
        """Whether so many workers are ready, and no box of theirs still starts.

        Raises `ClientError`.
        """
        with Client(self.url) as client:
            families = text_string_to_metric_families(client.metrics())
            figures = [sample for family in families for sample in family.samples]
        ready = _total(figures, "judge_workers", "ready")
        starting = sum(_total(figures, "judge_boxes", state) for state in ("starting", "lost"))
        return ready >= workers and not starting


def _total(figures: Sequence[Sample], name: str, state: str) -> int:
    return sum(
        int(each.value)
        for each in figures
        if each.name == name and each.labels.get("state") == state
    )


@dataclass(frozen=True)
class Place:
    """Where a service of our own keeps its data, and what its boxes are.

    Workers of the same place work for its queue.
    """

    data: Path
    sandbox: SandboxName

    @contextmanager
    def serving(
        self, slots: int = 0, *, with_worker: bool = True, until_at_rest: bool = True
    ) -> Iterator[Service]:
        """`judge serve`, warm and at rest, or as soon as it answers; `slots` 0 leaves them to it.

        Raises `SandboxError` with its last words when it ends before.
        """
        port = _free_port()
        words = ["serve", "--port", str(port), *(() if with_worker else ("--no-worker",))]
        with own_group() as group, self._running(words, slots, group) as process:
            service = Service(f"http://127.0.0.1:{port}", group)
            _wait_until(lambda: _answers(service, at_rest=until_at_rest), [process])
            yield service

    @contextmanager
    def working(self, count: int, service: Service, *, others: int = 0) -> Iterator[None]:
        """So many more `judge work` of one slot each, besides `others`; all of them at rest.

        Raises `ClientError`, `SandboxError`.
        """
        with ExitStack() as stack:
            started = [
                stack.enter_context(self._running(["work"], 1, service.group)) for _ in range(count)
            ]
            _wait_until(lambda: service.has_at_rest(others + count), started)
            yield

    @contextmanager
    def _running(self, words: Sequence[str], slots: int, group: Group | None) -> Iterator[_Process]:
        said = self.data / f"{words[0]}-{secrets.token_hex(4)}.log"
        settings = [
            f"JUDGE_DATA={self.data / 'data'}", f"JUDGE_SANDBOX={self.sandbox}",
            "JUDGE_DATABASE_URL=", "JUDGE_HOURLY_QUOTA=0", f"JUDGE_SLOTS={slots or ''}",
        ]  # fmt: skip
        with said.open("wb") as output:
            process = subprocess.Popen(
                ["env", *settings, sys.executable, "-m", "judge", *words], cwd=PACKAGES,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            if group:
                group.add(process.pid)
            yield _Process(f"judge {words[0]}", process, said)
        finally:
            _stop(process)


@dataclass(frozen=True)
class _Process:
    """A process of ours, and the file with what it says."""

    name: str
    process: subprocess.Popen[bytes]
    said: Path

    def require_running(self, *, late: bool) -> None:
        """Raise `SandboxError` with its last words when it has ended, or takes far too long."""
        has_ended = self.process.poll() is not None
        if has_ended or late:
            how = "ended" if has_ended else "did not become ready"
            words = self.said.read_text(encoding="utf-8", errors="replace")
            raise SandboxError(f"{self.name} {how}: {words[-LAST_CHARS:].strip()}")


@contextmanager
def own_place(sandbox: SandboxName) -> Iterator[Place]:
    """A place that is removed afterwards."""
    with TemporaryDirectory(prefix="judge-bench-") as temporary:
        folder = Path(temporary)
        folder.chmod(FOLDER_MODE)
        yield Place(folder, sandbox)


@contextmanager
def own_service(sandbox: SandboxName, slots: int = 0) -> Iterator[Service]:
    """`judge serve`, warm and at rest, in a place of its own. Raises as `Place.serving` does."""
    with own_place(sandbox) as place, place.serving(slots) as service:
        yield service


def _answers(service: Service, *, at_rest: bool) -> bool:
    with Client(service.url) as client:
        return client.ready() and service.has_at_rest(1) if at_rest else client.alive()


def _wait_until(is_so: Callable[[], bool], processes: Sequence[_Process]) -> None:
    end = time.monotonic() + READY_S
    while not is_so():
        for process in processes:
            process.require_running(late=time.monotonic() > end)
        time.sleep(POLL_S)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
