"""The database goes away while workers claim, judge and commit, or its disk is full for a while."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from judge.verdicts import Verdict
from tests.service.faults.crew import Crew
from tests.service.faults.desk import PATIENCE_S, RIGHT, SLEEPING_S, SLOW, WRONG, Desk
from tests.service.faults.server import OwnServer
from tests.service.made import ROOMY

AWAY_S = 3.0
DISK_BYTES = 192 << 20


@dataclass(frozen=True)
class Disk:
    """Where the server keeps its data; `refused` is why that is no small disk, if it is none."""

    folder: Path
    refused: str


@pytest.fixture(scope="module")
def disk(reachable_path: Path) -> Iterator[Disk]:
    folder = reachable_path / "own"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "judge-test"]
    mounted = subprocess.run([*mount, str(folder)], capture_output=True, text=True, check=False)
    yield Disk(folder, mounted.stderr.strip() if mounted.returncode else "")
    if mounted.returncode == 0:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def small_disk(disk: Disk) -> Path:
    if disk.refused:
        pytest.skip(f"a small disk for the database needs root: {disk.refused}")
    return disk.folder


@pytest.fixture(scope="module")
def server(disk: Disk) -> Iterator[OwnServer]:
    with OwnServer(disk.folder / "db") as server:
        yield server


@pytest.fixture(scope="module")
def module_url(server: OwnServer) -> str:
    return server.url


@pytest.fixture(scope="module")
def module_crew(
    module_url: str, module_desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    """One worker that can do two things at once."""
    logs = tmp_path_factory.mktemp("workers")
    with Crew(module_url, logs, size=1, slots=2) as crew:
        module_desk.wait_until_idle()  # the problem is prepared
        yield crew


def away_for_a_while(server: OwnServer) -> None:
    server.crash()
    time.sleep(AWAY_S)
    server.start()


def test_in_the_middle_of_judging(crew: Crew, desk: Desk, server: OwnServer) -> None:
    submission = desk.submit(SLOW)
    desk.wait_for_check(submission)
    away_for_a_while(server)
    desk.settle()
    desk.wait_for_verdict(submission, PATIENCE_S)
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)


def test_in_the_middle_of_a_commit(crew: Crew, desk: Desk, server: OwnServer) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_claim(submission)
    with desk.holding_the_commit(judging.id):
        desk.wait_for_lock("judgings")
        away_for_a_while(server)
    desk.settle()
    desk.wait_for_verdict(submission, PATIENCE_S)
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)


def test_in_the_middle_of_a_claim(crew: Crew, desk: Desk, server: OwnServer) -> None:
    submission = desk.submit(WRONG)
    desk.wait_for_verdict(submission)
    crew.pause()
    judging = desk.run(desk.store.rejudge(submission, desk.problem.version, ROOMY))
    with desk.locked("SELECT FROM judgings WHERE id = %s FOR UPDATE", judging):
        crew.resume()
        desk.wait_for_lock("judgings")
        away_for_a_while(server)
    desk.settle()
    desk.wait_for_verdict(submission, PATIENCE_S)
    desk.require(submission, Verdict.WA)


def test_everything_that_waited_is_judged_afterwards(
    crew: Crew, desk: Desk, server: OwnServer
) -> None:
    submissions = [desk.submit(source) for source in (SLOW, RIGHT, WRONG, RIGHT)]
    server.restart()
    desk.settle()
    verdicts = (Verdict.AC, Verdict.AC, Verdict.WA, Verdict.AC)
    for submission, verdict in zip(submissions, verdicts, strict=True):
        desk.wait_for_verdict(submission, PATIENCE_S)
        desk.require(submission, verdict)
    desk.wait_until_idle()
    assert all(worker.alive for worker in crew.workers)


# --- its disk is full ----------------------------------------------------------------------------


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return filler


def test_a_verdict_waits_for_room(crew: Crew, desk: Desk, small_disk: Path) -> None:
    submission = desk.submit(SLOW)
    desk.wait_for_check(submission)
    filler = fill(small_disk)
    try:
        with pytest.raises(psycopg.Error):
            desk.query(
                "CREATE TABLE large AS SELECT repeat('x', 9) FROM generate_series(1, 999999)"
            )
        time.sleep(3 * SLEEPING_S)
    finally:
        filler.unlink()
    desk.settle()
    desk.wait_for_verdict(submission, PATIENCE_S)
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)
