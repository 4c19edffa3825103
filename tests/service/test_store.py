from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import pytest

from judge.grader.messages import CheckCard
from judge.problem import Problem
from judge.results import Chart, Timing
from judge.service.records import (
    Bounds,
    Facts,
    HourlyQuota,
    KeyReused,
    QueueFull,
    StillJudging,
    StudentLimit,
    UnknownRow,
    WorkerRow,
)
from judge.service.store import Store
from judge.verdicts import Verdict
from tests.service.conftest import run_with_store
from tests.service.made import (
    ROOMY,
    accepted,
    claimed,
    double,
    events,
    finish,
    new,
    newest,
    result,
)


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return double(tmp_path)


async def types(store: Store, judging: int) -> list[str]:
    return [stored.event.type for stored in await store.events_after(judging, 0)]


def test_a_submission_is_kept_and_queued_together(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        submission = new(problem)
        await store.accept(submission, ROOMY)
        stored = await store.submission(submission.id)
        assert stored is not None
        assert (stored.student, stored.kind, stored.problem) == ("ann", "submit", "double")
        assert (stored.judging.state, stored.judging.number) == ("queued", 1)
        assert stored.judging.problem_version == problem.version
        assert await store.sources(submission.id) == {"solution.py": problem.reference}
        assert await types(store, stored.judging.id) == ["queued"]

    run_with_store(database_url, test)


def test_bytes_that_are_no_text_come_back_as_they_were(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        odd = {"solution.py": b"x = '\x00\xff\xed\xa0\x80'\n"}
        submission = replace(new(problem), files=odd)
        judging = await accepted(store, submission)
        assert await store.sources(submission.id) == odd
        assert (await claimed(store, judging)).files == odd

    run_with_store(database_url, test)


def test_the_same_key_gives_the_same_submission(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        first = await store.accept(new(problem, key="k"), ROOMY)
        again = await store.accept(new(problem, key="k"), ROOMY)
        assert (again.id, again.replayed) == (first.id, True)
        assert (await store.accept(new(problem, "bob", key="k"), ROOMY)).id != first.id
        with pytest.raises(KeyReused):
            await store.accept(new(problem, key="k", request_hash=b"other"), ROOMY)

    run_with_store(database_url, test)


def test_the_same_key_many_times_at_once_is_one_submission(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        answers = await asyncio.gather(
            *(store.accept(new(problem, key="k"), ROOMY) for _ in range(10))
        )
        assert len({answer.id for answer in answers}) == 1
        assert (await store.stats()).waiting == {"submit": 1}

    run_with_store(database_url, test)


def test_a_full_queue_refuses_and_says_when_to_come_back(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        bounds = Bounds(queue_limit=2, student_limit=5, hourly_quota=0)
        for student in ("ann", "bob"):
            await store.accept(new(problem, student), bounds)
        with pytest.raises(QueueFull) as refused:
            await store.accept(new(problem, "cid"), bounds)
        assert refused.value.retry_after_s > 0
        assert (await store.stats()).waiting == {"submit": 2}

    run_with_store(database_url, test)


def test_one_student_may_not_fill_the_queue(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        bounds = Bounds(queue_limit=9, student_limit=2, hourly_quota=0)
        for _ in range(2):
            await store.accept(new(problem), bounds)
        with pytest.raises(StudentLimit):
            await store.accept(new(problem), bounds)
        await store.accept(new(problem, "bob"), bounds)

    run_with_store(database_url, test)


def test_the_hourly_quota_says_when_the_next_is_possible(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        bounds = Bounds(queue_limit=9, student_limit=9, hourly_quota=2)
        for _ in range(2):
            await store.accept(new(problem), bounds)
        with pytest.raises(HourlyQuota) as refused:
            await store.accept(new(problem), bounds)
        assert 3590 <= refused.value.retry_after_s <= 3600
        await store.accept(new(problem, "bob"), bounds)

    run_with_store(database_url, test)


# --- claims and verdicts --------------------------------------------------------------------------


def test_a_verdict_is_stored_with_where_and_how_long(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        claim = await claimed(store, judging, "worker-1")
        assert claim.queued_ms > 0
        assert claim.accepted_ms > 0
        assert await store.append(claim, events()[:2])
        assert await finish(store, claim, problem)
        stored = await store.submission(claim.submission)
        assert stored is not None
        assert (stored.judging.state, stored.judging.verdict) == ("finished", Verdict.AC)
        assert (stored.judging.attempts, stored.judging.worker) == (1, "worker-1")
        assert stored.judging.result is not None
        assert stored.judging.result.model_copy(update={"timing": Timing()}) == result(
            claim, problem
        )
        assert await types(store, judging) == [
            "queued", "started", "tier_started", "check_finished", "finished",
        ]  # fmt: skip

    run_with_store(database_url, test)


def test_what_is_finished_cannot_be_claimed(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        claim = await claimed(store, judging)
        await finish(store, claim, problem)
        assert await store.claim(judging, "w") is None
        assert await store.claim(judging + 1, "w") is None

    run_with_store(database_url, test)


def test_a_new_claim_takes_the_lease_and_voids_what_was_written(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        late = await claimed(store, judging, "late")
        assert await store.append(late, events()[:1])
        fresh = await claimed(store, judging, "fresh")
        assert not await store.append(late, events()[1:2])
        assert await store.append(fresh, events()[:3])
        assert await types(store, judging) == [
            "queued", "started", "tier_started",
            "restarted", "started", "tier_started", "check_finished", "tier_finished",
        ]  # fmt: skip

    run_with_store(database_url, test)


def test_the_first_complete_verdict_wins_whoever_has_it(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        late = await claimed(store, judging, "late")
        fresh = await claimed(store, judging, "fresh")
        await store.append(fresh, events()[:2])
        assert await finish(store, late, problem)
        assert not await finish(store, fresh, problem, Verdict.WA)
        assert not await store.append(fresh, events()[2:3])
        stored = await store.submission(late.submission)
        assert stored is not None
        assert stored.judging.verdict is Verdict.AC
        found = await types(store, judging)
        assert found.count("finished") == 1
        after = found[len(found) - found[::-1].index("restarted") :]
        assert after == ["started", *(event.type for event in events())]

    run_with_store(database_url, test)


def test_many_verdicts_at_once_are_one(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        claims = [await claimed(store, judging) for _ in range(6)]
        won = await asyncio.gather(*(finish(store, each, problem) for each in claims))
        assert sum(won) == 1
        assert (await types(store, judging)).count("finished") == 1
        assert sum(tally.count for tally in await store.tallies()) == 1

    run_with_store(database_url, test)


def test_three_attempts_are_all(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        assert [(await claimed(store, judging)).exhausted for _ in range(4)] == [
            False, False, False, True,
        ]  # fmt: skip

    run_with_store(database_url, test)


@pytest.mark.parametrize(("counted", "next_lease"), [(True, 2), (False, 1)])
def test_what_is_given_back_waits_again(
    database_url: str, problem: Problem, *, counted: bool, next_lease: int
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        claim = await claimed(store, judging)
        await store.give_back(claim, counted=counted)
        assert (await store.stats()).waiting == {"submit": 1}
        assert (await claimed(store, judging)).lease == next_lease

    run_with_store(database_url, test)


def test_giving_back_a_lost_lease_changes_nothing(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        late = await claimed(store, judging)
        await claimed(store, judging)
        await store.give_back(late, counted=False)
        assert (await store.stats()).running == 1

    run_with_store(database_url, test)


# --- history --------------------------------------------------------------------------------------


def test_a_rejudge_is_another_judging_with_the_same_seed(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        submission = new(problem)
        judging = await accepted(store, submission)
        with pytest.raises(StillJudging):
            await store.rejudge(submission.id, problem.version, ROOMY)
        claim = await claimed(store, judging)
        await finish(store, claim, problem, Verdict.WA)
        second = await store.rejudge(submission.id, problem.version, ROOMY)
        assert second == await newest(store, submission.id)
        again = await claimed(store, second)
        assert (again.seed, again.files, again.lease) == (claim.seed, claim.files, 1)
        await finish(store, again, problem)
        history = await store.judgings(submission.id)
        assert [(each.number, each.verdict) for each in history] == [
            (1, Verdict.WA), (2, Verdict.AC),
        ]  # fmt: skip
        with pytest.raises(UnknownRow):
            await store.rejudge("nobody's", problem.version, ROOMY)

    run_with_store(database_url, test)


def test_history_is_ones_own_newest_first_in_pages_and_without_runs(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        mine = [new(problem) for _ in range(5)]
        for each in [*mine, new(problem, "bob"), new(problem, kind="run")]:
            await store.accept(each, ROOMY)
        expected = [each.id for each in reversed(mine)]
        first = await store.history("ann", None, None, 3)
        assert [each.id for each in first] == expected[:3]
        rest = await store.history("ann", "double", first[-1].id, 3)
        assert [each.id for each in rest] == expected[3:]
        assert await store.history("ann", "other", None, 3) == []
        assert await store.history("ann", None, "no such id", 3) == []

    run_with_store(database_url, test)


def test_runs_and_old_events_and_silent_workers_are_forgotten(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        run, waiting, submit = new(problem, kind="run"), new(problem, kind="run"), new(problem)
        tried = await claimed(store, await accepted(store, run))
        await finish(store, tried, problem)
        await store.accept(waiting, ROOMY)
        claim = await claimed(store, await accepted(store, submit))
        await finish(store, claim, problem)
        await store.beat(WorkerRow("w", "host", 1, "docker", 2, "ready"))
        await store.expire(3600, 3600)
        assert await store.submission(run.id) is not None
        assert await types(store, claim.judging) != []
        await store.expire(0, 0)
        assert await store.submission(run.id) is None
        assert await store.submission(waiting.id) is not None
        assert await types(store, claim.judging) == []
        kept = await store.submission(submit.id)
        assert kept is not None
        assert kept.judging.result is not None

    run_with_store(database_url, test)


# --- problems, workers, counts --------------------------------------------------------------------


def test_a_worker_finds_the_whole_version_in_the_database(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        await store.publish([problem])
        assert await store.contents(problem.version) == ("double", dict(problem.contents))
        with pytest.raises(UnknownRow):
            await store.contents("f00")

    run_with_store(database_url, test)


def test_facts_come_back_as_they_were(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        assert await store.facts([problem.version]) == {}
        chart = Chart(id="c", tier="T3", title="C", source="reference", spec={"a": 1}, table=[])
        facts = Facts([CheckCard("T0", "test_call", "It can.", "interface", "So.")], [chart])
        await store.prepared(problem.version, facts)
        assert await store.facts([problem.version, "f00"]) == {problem.version: facts}

    run_with_store(database_url, test)


def test_workers_are_listed_while_they_report(database_url: str) -> None:
    async def test(store: Store) -> None:
        worker = WorkerRow("w", "host", 1, "docker", 2, "waiting", "no engine", {"warm": 2})
        await store.beat(worker)
        await store.beat(replace(worker, state="ready", why=""))
        (listed,) = await store.workers()
        assert listed == replace(worker, state="ready", why="")
        await store.leave("w")
        assert await store.workers() == []

    run_with_store(database_url, test)


def test_verdicts_are_counted_by_how_long_they_took(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        for verdict in (Verdict.AC, Verdict.WA, Verdict.AC):
            claim = await claimed(store, await accepted(store, new(problem)))
            await finish(store, claim, problem, verdict)
        counted = {
            verdict: sum(each.count for each in await store.tallies() if each.verdict == verdict)
            for verdict in ("AC", "WA")
        }
        assert counted == {"AC": 2, "WA": 1}
        assert all(0 < each.total_ms < math.inf for each in await store.tallies())

    run_with_store(database_url, test)


def test_what_is_forgotten_is_gone_for_its_workers_too(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        late = await claimed(store, await accepted(store, new(problem, kind="run")))
        fresh = await claimed(store, late.judging)
        await finish(store, fresh, problem)
        await store.expire(0, 0)
        assert await store.claim(late.judging, "w") is None
        assert not await store.append(late, events()[:1])
        assert not await finish(store, late, problem)

    run_with_store(database_url, test)


def test_many_at_once_of_one_student_keep_to_the_bounds(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        bounds = Bounds(queue_limit=99, student_limit=3, hourly_quota=0)
        answers = await asyncio.gather(
            *(store.accept(new(problem), bounds) for _ in range(12)), return_exceptions=True
        )
        assert sum(isinstance(answer, StudentLimit) for answer in answers) == 9
        assert (await store.stats()).waiting == {"submit": 3}

    run_with_store(database_url, test)


def test_a_rejudge_keeps_to_the_bounds_as_well(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        submission = new(problem)
        claim = await claimed(store, await accepted(store, submission))
        await finish(store, claim, problem)
        with pytest.raises(HourlyQuota):
            await store.rejudge(submission.id, problem.version, Bounds(9, 9, hourly_quota=1))
        await store.accept(new(problem), ROOMY)
        with pytest.raises(StudentLimit):
            await store.rejudge(submission.id, problem.version, Bounds(9, 1, hourly_quota=0))

    run_with_store(database_url, test)


def test_an_attempt_that_is_given_back_uncounted_lends_its_lease_to_nobody(
    database_url: str, problem: Problem
) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        judging = await accepted(store, new(problem))
        late = await claimed(store, judging, "late")
        fresh = await claimed(store, judging, "fresh")
        await store.give_back(fresh, counted=False)
        again = await claimed(store, judging, "again")
        assert again.lease == fresh.lease
        assert not await store.append(fresh, events()[:1])
        assert await store.append(again, events()[:3])
        assert await finish(store, late, problem)
        found = await types(store, judging)
        after = found[len(found) - found[::-1].index("restarted") :]
        assert after == ["started", *(event.type for event in events())]

    run_with_store(database_url, test)


def test_the_timing_says_how_long_storing_took(database_url: str, problem: Problem) -> None:
    async def test(store: Store) -> None:
        await store.publish([problem])
        claim = await claimed(store, await accepted(store, new(problem)))
        await asyncio.sleep(0.05)
        await finish(store, claim, problem)
        stored = await store.submission(claim.submission)
        assert stored is not None
        assert stored.judging.result is not None
        assert 50 <= stored.judging.result.timing.spans["stored"] < 5000

    run_with_store(database_url, test)
