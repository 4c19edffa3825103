"""Workers as processes of their own, which tests kill, stop and replace."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from judge.service.records import StoredJudging
from sandbox.choose import SandboxName

ROOT = Path(__file__).parents[3]
START_S = 240.0  # on a machine with much to do
END_S = 30.0


class WorkerProcess:
    """One `judge work`, which ends with the test at the latest."""

    def __init__(self, database_url: str, log: Path, sandbox: SandboxName, slots: int) -> None:
        self.log = log
        inherited = {key: value for key, value in os.environ.items() if key[:6] != "JUDGE_"}
        environment = inherited | {
            "JUDGE_DATABASE_URL": database_url,
            "JUDGE_SANDBOX": sandbox,
            "JUDGE_LOG": "json",
        }
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*dies_with_us(), sys.executable, "-m", "judge", "work", "--slots", str(slots)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def said(self, words: str) -> bool:
        return words in self.log.read_text(errors="replace")

    def wait_until_warm(self) -> None:
        deadline = time.monotonic() + START_S
        while not self.said("warm after"):
            assert self.alive, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, "the worker does not start"
            time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it without a chance to do anything about it."""
        self.send(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """Ask it to end; its exit status."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            return self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class Crew:
    """A number of workers; those that were killed are replaced by `complete`."""

    def __init__(
        self,
        database_url: str,
        logs: Path,
        size: int = 2,
        sandbox: SandboxName = "bwrap",
        slots: int = 1,
    ) -> None:
        self._url = database_url
        self._logs = logs
        self._size = size
        self._sandbox = sandbox
        self._slots = slots
        self._started = 0
        self.start_s = 0.0  # until all were warm: how long boxes take here and now
        self.workers: list[WorkerProcess] = []

    def __enter__(self) -> Self:
        began = time.monotonic()
        try:
            self.complete()
        except BaseException:
            self._kill_all()
            raise
        self.start_s = time.monotonic() - began
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kill_all()

    def hire(self) -> None:
        """Begin to replace those that are gone."""
        self.workers = [worker for worker in self.workers if worker.alive]
        while len(self.workers) < self._size:
            self._started += 1
            log = self._logs / f"worker-{self._started}.log"
            self.workers.append(WorkerProcess(self._url, log, self._sandbox, self._slots))

    def complete(self) -> None:
        """Replace those that are gone, and wait until all are warm."""
        self.hire()
        for worker in self.workers:
            worker.wait_until_warm()

    def kill(self, worker: WorkerProcess) -> None:
        """Kill it, and begin to replace it."""
        worker.kill()
        self.hire()

    def pause(self) -> None:
        """Stop all of them, so that nothing is taken."""
        for worker in self.workers:
            worker.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        for worker in self.workers:
            worker.send(signal.SIGCONT)

    @contextmanager
    def only(self, worker: WorkerProcess) -> Iterator[None]:
        """Stop all others, so that it takes whatever there is."""
        others = [each for each in self.workers if each is not worker]
        for each in others:
            each.send(signal.SIGSTOP)
        try:
            yield
        finally:
            for each in others:
                each.send(signal.SIGCONT)

    def who_has(self, judging: StoredJudging) -> WorkerProcess:
        """The worker that claimed it."""
        assert judging.worker is not None
        pid = int(judging.worker.split("-")[-2])
        return next(worker for worker in self.workers if worker.pid == pid)

    def _kill_all(self) -> None:
        for worker in self.workers:
            worker.send(signal.SIGCONT)
            worker.send(signal.SIGTERM)
        for worker in self.workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.stop()


def dies_with_us() -> list[str]:
    """What to put before a command that must not outlive this process, where that can be had."""
    found = shutil.which("setpriv")
    return [found, "--pdeathsig", "KILL"] if found else []
