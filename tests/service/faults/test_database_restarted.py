"""The database goes away while workers claim, judge and commit, and comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.verdicts import Verdict
from tests.service.faults.crew import Crew
from tests.service.faults.desk import PATIENCE_S, RIGHT, SLOW, WRONG, Desk
from tests.service.faults.server import OwnServer
from tests.service.made import ROOMY

AWAY_S = 3.0


@pytest.fixture(scope="module")
def server(reachable_path: Path) -> Iterator[OwnServer]:
    with OwnServer(reachable_path / "own") as server:
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
