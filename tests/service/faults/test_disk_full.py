"""A full disk under the database delays verdicts, and changes none."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.service.faults.crew import Crew
from tests.service.faults.desk import PATIENCE_S, SLEEPING_S, SLOW, Desk
from tests.service.faults.server import OwnServer

DISK_BYTES = 192 << 20


@pytest.fixture(scope="module")
def small_disk(reachable_path: Path) -> Iterator[Path]:
    folder = reachable_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0755", "judge-test"]
    mounted = subprocess.run([*mount, str(folder)], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"needs root: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def module_url(small_disk: Path) -> Iterator[str]:
    with OwnServer(small_disk / "db") as server:
        yield server.url


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
