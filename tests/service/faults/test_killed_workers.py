"""A worker that is killed, stopped or doubled anywhere changes no verdict, and delays few.

Workers start slowly, so three are killed in all, and each takes two submissions along: one is the
same each time, and the other shows what becomes of a submission at the place where it is.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from judge.service.queue import JudgeTask
from judge.service.worker import EXHAUSTED
from judge.verdicts import Verdict
from tests.service.faults.crew import START_S, Crew
from tests.service.faults.desk import RESCUED_S, RIGHT, RUN_S, SLOW, WRONG, Desk, wait_until
from tests.service.made import ROOMY

SLOTS = 2
# Its first call ends soon, and its second takes longer than what is done to its worker meanwhile.
LONG = b"""
import time

def double(x):
    time.sleep(0.2 if x.ndim == 1 else 6.0)
    return x + x
"""


@pytest.fixture(scope="module")
def module_crew(
    module_url: str, module_desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    with Crew(module_url, tmp_path_factory.mktemp("workers"), slots=SLOTS) as crew:
        module_desk.wait_until_idle()  # the problem is prepared
        yield crew


def test_two_workers_share_the_work(crew: Crew, desk: Desk) -> None:
    submissions = [desk.submit(SLOW) for _ in range(2 * SLOTS)]
    who = {desk.wait_for_verdict(submission).worker for submission in submissions}
    assert len(who) == len(crew.workers) == 2


def test_one_job_delivered_twice(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_claim(submission)
    desk.query(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args)"
        " SELECT queue_name, task_name, priority, args FROM procrastinate_jobs"
        " WHERE args ->> 'judging' = %s",
        str(judging.id),
    )
    desk.wait_for_attempt(submission, 2)
    desk.wait_for_verdict(submission)
    desk.wait_until_idle()
    desk.require(submission)
    assert all(worker.alive for worker in crew.workers)


def test_a_row_that_has_lost_its_job(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(RIGHT)
    judging = desk.wait_for_verdict(submission)
    crew.pause()
    rejudged = desk.run(desk.store.rejudge(submission, desk.problem.version, ROOMY))
    desk.run(desk.queue.cancel(JudgeTask(rejudged)))
    crew.resume()
    desk.wait_for_verdict(submission, RESCUED_S)
    assert desk.judging(submission).id == rejudged != judging.id
    desk.require(submission)


def test_a_stopped_worker_that_wakes_when_another_has_finished(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_check(submission)
    sleeper = crew.who_has(judging)
    sleeper.send(signal.SIGSTOP)
    finished = desk.wait_for_verdict(submission, RESCUED_S + RUN_S)
    assert finished.worker != judging.worker
    sleeper.send(signal.SIGCONT)
    wait_until(lambda: sleeper.said("another verdict was first"))
    desk.require(submission)
    assert desk.judging(submission) == finished
    with crew.only(sleeper):  # it judges again
        later = {desk.submit(WRONG): Verdict.WA, desk.submit(RIGHT): Verdict.AC}
        for each, verdict in later.items():
            desk.wait_for_verdict(each)
            desk.require(each, verdict)


# --- killed --------------------------------------------------------------------------------------


def test_three_workers_killed_with_one_submission_and_one_other_each(
    crew: Crew, desk: Desk
) -> None:
    middle, unlucky = kill_in_the_middle_and_after_a_claim(crew, desk)
    second_try = desk.judging(unlucky)
    assert second_try.attempts == 2
    with desk.holding_the_commit(second_try.id):
        desk.wait_for_verdict(middle)
        require_one_restart(desk, middle)
        kill_between_commit_and_acknowledgement(crew, desk, beside=unlucky)
    third_try = desk.wait_for_attempt(unlucky, 3, START_S)
    with desk.holding_the_commit(third_try.id):
        unfinished = kill_between_answer_and_commit(crew, desk, beside=unlucky)
    desk.wait_for_verdict(unlucky, START_S)
    require_our_fault(desk, unlucky)
    assert desk.wait_for_verdict(unfinished).attempts == 2
    desk.require(unfinished)


def kill_in_the_middle_and_after_a_claim(crew: Crew, desk: Desk) -> tuple[str, str]:
    """Both are soon judged again."""
    middle = desk.submit(LONG)
    victim = crew.who_has(desk.wait_for_claim(middle))
    with crew.only(victim):
        desk.wait_for_check(middle)
        claimed = desk.submit(LONG)
        desk.wait_for_claim(claimed)
        crew.kill(victim)
    for each in (claimed, middle):
        desk.wait_for_attempt(each, 2, RESCUED_S)
    return middle, claimed


def require_one_restart(desk: Desk, submission: str) -> None:
    """It was judged twice, and nothing of the first time counts."""
    desk.require(submission)
    assert desk.judging(submission).attempts == 2
    told = [event.type for event in desk.events(submission)]
    again = told.index("restarted") + 1
    assert "restarted" not in told[again:]
    assert told[again] == "started"
    assert told[again:].count("tier_finished") == 2


def kill_between_commit_and_acknowledgement(crew: Crew, desk: Desk, beside: str) -> None:
    """Its verdict stays; what is beside it has an answer that cannot be stored."""
    victim = crew.who_has(desk.judging(beside))
    with crew.only(victim):
        submission = desk.submit(SLOW)
        judging = desk.wait_for_claim(submission)
        with desk.holding_the_acknowledgement(judging.id):
            desk.wait_for_verdict(submission)
            desk.wait_for_lock("procrastinate")
            desk.wait_for_lock("judgings")
            crew.kill(victim)
            desk.drop_what_waits()
    desk.wait_for_acknowledgement(judging.id)
    desk.require(submission)
    assert desk.judging(submission).attempts == 1


def kill_between_answer_and_commit(crew: Crew, desk: Desk, beside: str) -> str:
    """It was answered, and what is beside it, too, and none of it can be stored."""
    victim = crew.who_has(desk.judging(beside))
    with crew.only(victim):
        submission = desk.submit(SLOW)
        judging = desk.wait_for_claim(submission)
        with desk.holding_the_commit(judging.id):
            desk.wait_for_lock("judgings", waiters=2)
            victim.kill()  # no other is needed in its place
            desk.drop_what_waits()
    return submission


def require_our_fault(desk: Desk, submission: str) -> None:
    """It is not tried a fourth time, and the student is not blamed."""
    desk.require(submission, Verdict.JE)
    judging = desk.judging(submission)
    assert judging.attempts > 3
    assert judging.result is not None
    first, *others = [check for tier in judging.result.tiers for check in tier.checks]
    assert (first.verdict, first.message) == (Verdict.JE, EXHAUSTED)
    assert {check.verdict for check in others} == {Verdict.SK}


def test_a_worker_asked_to_stop_finishes_what_it_has(module_crew: Crew, module_desk: Desk) -> None:
    # The last of the module: whichever workers are left will do.
    submission = module_desk.submit(SLOW)
    judging = module_desk.wait_for_check(submission)
    assert module_crew.who_has(judging).stop() == 0
    module_desk.require(submission)
    assert module_desk.judging(submission).attempts == 1
