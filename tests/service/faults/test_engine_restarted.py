"""The machine's Docker engine is restarted under a worker. Runs only when asked for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judge.settings import Settings
from sandbox import engine
from sandbox.boxes import SandboxError
from tests.service.faults.crew import ROOT, Crew
from tests.service.faults.desk import RIGHT, RUN_S, SLOW, Desk, wait_until

pytestmark = pytest.mark.restarts_engine

PID_FILE = Path("/var/run/docker.pid")
START = ROOT / "scripts" / "start-docker-engine.sh"
RECOVERED_S = 30.0
END_S = 60.0


@pytest.fixture(scope="module")
def module_crew(
    module_url: str, module_desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    try:
        with engine.connected(Settings().docker_host, 30):
            pass
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")
    logs = tmp_path_factory.mktemp("workers")
    with Crew(module_url, logs, size=1, sandbox="docker") as crew:
        module_desk.wait_until_idle()
        yield crew


@contextmanager
def engine_away() -> Iterator[None]:
    """Stop the engine, and with it every container; start it again at the end."""
    pid = int(PID_FILE.read_text())
    try:
        subprocess.run(["kill", str(pid)], check=True)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), END_S)
        yield
    finally:
        subprocess.run([START], check=True)


def test_in_the_middle_of_judging(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    desk.wait_for_check(submission)
    with engine_away():
        wait_until(lambda: [row.state for row in desk.run(desk.store.workers())] == ["waiting"])
    began = time.monotonic()
    desk.wait_for_verdict(submission)
    assert time.monotonic() - began < RECOVERED_S + RUN_S
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)


def test_while_idle(crew: Crew, desk: Desk) -> None:
    with engine_away():
        submission = desk.submit(RIGHT)
        time.sleep(5)
        assert desk.judging(submission).attempts == 0
    desk.wait_for_verdict(submission, RECOVERED_S)
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)
