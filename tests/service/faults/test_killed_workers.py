"""A worker that is killed, stopped or doubled anywhere changes no verdict, and delays few."""

from __future__ import annotations

import signal
import time

from judge.service.queue import JudgeTask
from judge.service.worker import EXHAUSTED
from judge.verdicts import Verdict
from tests.service.faults.crew import START_S, Crew
from tests.service.faults.desk import RESCUED_S, RIGHT, RUN_S, SLOW, WRONG, Desk
from tests.service.made import ROOMY


def test_killed_after_the_claim(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    crew.kill(crew.who_has(desk.wait_for_claim(submission)))
    judging = desk.wait_for_verdict(submission, RESCUED_S + RUN_S)
    desk.require(submission)
    assert judging.attempts == 2


def test_killed_in_the_middle(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    crew.kill(crew.who_has(desk.wait_for_check(submission)))
    judging = desk.wait_for_verdict(submission, RESCUED_S + RUN_S)
    desk.require(submission)
    assert judging.attempts == 2
    told = [event.type for event in desk.events(submission)]
    again = len(told) - told[::-1].index("restarted")
    assert told[again] == "started"
    assert told[again:].count("tier_finished") == 2


def test_killed_between_the_answer_and_the_commit(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_claim(submission)
    with desk.holding_the_commit(judging.id):
        desk.wait_for_lock("judgings")
        crew.kill(crew.who_has(judging))
    desk.wait_for_verdict(submission, RESCUED_S + RUN_S)
    desk.require(submission)


def test_killed_between_the_commit_and_the_acknowledgement(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_claim(submission)
    with desk.holding_the_acknowledgement(judging.id):
        desk.wait_for_verdict(submission)
        desk.wait_for_lock("procrastinate")
        crew.kill(crew.who_has(judging))
    desk.wait_until_idle()
    desk.require(submission)
    assert desk.judging(submission).attempts == 1


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


def test_a_submission_that_takes_its_worker_along_each_time(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    for attempt in (1, 2, 3):
        desk.wait_for_attempt(submission, attempt, START_S)
        crew.kill(crew.who_has(desk.judging(submission)))
    judging = desk.wait_for_verdict(submission, START_S)
    desk.require(submission, Verdict.JE)
    assert judging.result is not None
    first, *others = [check for tier in judging.result.tiers for check in tier.checks]
    assert (first.verdict, first.message) == (Verdict.JE, EXHAUSTED)
    assert {check.verdict for check in others} == {Verdict.SK}
    after = desk.submit(RIGHT)
    desk.wait_for_verdict(after)
    desk.require(after)


def test_a_stopped_worker_that_wakes_when_another_has_finished(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_check(submission)
    sleeper = crew.who_has(judging)
    sleeper.send(signal.SIGSTOP)
    finished = desk.wait_for_verdict(submission, RESCUED_S + RUN_S)
    assert finished.worker != judging.worker
    sleeper.send(signal.SIGCONT)
    time.sleep(RUN_S)
    desk.require(submission)
    assert desk.judging(submission) == finished
    later = [desk.submit(source) for source in (SLOW, WRONG, SLOW, RIGHT)]
    for each, verdict in zip(later, (Verdict.AC, Verdict.WA, Verdict.AC, Verdict.AC), strict=True):
        desk.wait_for_verdict(each)
        desk.require(each, verdict)
    who = {desk.judging(each).worker for each in later}
    assert len(who) == 2, "the sleeper judges again"


def test_two_workers_share_the_work(crew: Crew, desk: Desk) -> None:
    submissions = [desk.submit(SLOW) for _ in range(4)]
    who = {desk.wait_for_verdict(submission).worker for submission in submissions}
    assert len(who) == len(crew.workers) == 2


def test_a_worker_asked_to_stop_finishes_what_it_has(crew: Crew, desk: Desk) -> None:
    submission = desk.submit(SLOW)
    judging = desk.wait_for_check(submission)
    assert crew.who_has(judging).stop() == 0
    desk.require(submission)
    assert desk.judging(submission).attempts == 1
