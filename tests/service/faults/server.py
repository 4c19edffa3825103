"""A database server of its own for tests that take it away."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from judge.service.database import migrate
from judge.service.embedded import embedded_postgres
from tests.service.faults.desk import wait_until


class OwnServer:
    """An embedded PostgreSQL that can be crashed and started again, at the same address."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._running = ExitStack()
        self.url = ""

    def __enter__(self) -> Self:
        self.start()
        migrate(self.url)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.close()

    def start(self) -> None:
        server = self._running.enter_context(embedded_postgres(self._data, lambda _words: None))
        self.url = server.url

    def crash(self) -> None:
        """End it without letting anybody finish; what was committed is on the disk."""
        pid = self._postmaster()
        os.kill(pid, signal.SIGQUIT)
        wait_until(lambda: not _runs(pid))
        self._running.close()

    def restart(self) -> None:
        self.crash()
        self.start()

    def _postmaster(self) -> int:
        recorded = self._data / "postgres" / "cluster" / "postmaster.pid"
        return int(recorded.read_text().partition("\n")[0])


def _runs(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] not in ("Z", "X")
