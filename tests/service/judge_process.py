"""One `judge` command as a process of its own, as whoever starts it sees it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judge.client import Client
from tests.service.chaos import children
from tests.service.faults.crew import dies_with_us

PATIENCE_S = 60.0
END_S = 30.0  # for a process that was asked to end and has something to finish
KERNEL_S = 2.0
LOOK_S = 0.02
ASK_S = 0.25


class Running:
    """One `judge` command; what it says on stderr is kept in a file.

    `module` is another one to run in its place.
    """

    def __init__(
        self,
        arguments: tuple[str, ...],
        log: Path,
        settings: dict[str, str],
        module: str = "judge",
    ) -> None:
        self._log = log
        inherited = {key: value for key, value in os.environ.items() if key[:6] != "JUDGE_"}
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*dies_with_us(), sys.executable, "-m", module, *arguments],
                env=inherited | settings,
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, whatever it does: gently first, so that it takes with it what it started."""
        if self.alive:
            self.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            family = self.family()
            self._process.kill()
            self._process.wait()
            wait_for_end(family)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def address(self) -> str:
        """Where it serves; waits until it does."""
        self.wait_for(lambda: "judge: serving" in self.log)
        found = re.search(r"judge: serving (\S+) ", self.log)
        assert found is not None
        return found[1]

    def records(self) -> list[dict[str, Any]]:
        """What it has logged; everything else on stderr is said by the command to a person."""
        lines = self.log.splitlines()
        return [json.loads(line) for line in lines if not line.startswith("judge: ")]

    def wait_for(
        self, holds: Callable[[], bool], patience_s: float = PATIENCE_S, look_s: float = LOOK_S
    ) -> None:
        deadline = time.monotonic() + patience_s
        while not holds():
            assert self.alive, self.log
            assert time.monotonic() < deadline, f"not within {patience_s:g} s\n{self.log}"
            time.sleep(look_s)

    def wait_until_ready(self) -> None:
        """Asks seldom: to answer takes it time in which its boxes could start."""
        with Client(self.address) as client:
            self.wait_for(client.ready, look_s=ASK_S)

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def status(self, patience_s: float = END_S) -> int:
        """Its exit status; waits for its end."""
        return self._process.wait(patience_s)

    def family(self) -> set[int]:
        """What it has started, directly or not: boxes and the database."""
        found: set[int] = set()
        unseen = [self.pid]
        while unseen:
            new = set(children(unseen.pop())) - found
            found |= new
            unseen += new
        return found


def wait_for_end(family: set[int]) -> None:
    """Until the kernel has ended them all."""
    deadline = time.monotonic() + KERNEL_S
    while left := [pid for pid in family if not has_ended(pid)]:
        assert time.monotonic() < deadline, [command_of(pid) for pid in left]
        time.sleep(LOOK_S)


def has_ended(pid: int) -> bool:
    """Also when nobody has asked for its exit status yet, as where the first process is lazy."""
    return not command_of(pid)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
