"""What dies on our side is replaced, and the submission is judged again.

Boxes start slowly, so the tests of a sandbox share two judges: the one of all tests, which has no
keeper, and one with two slots and a reserve. What does not depend on the sandbox is tried in one of
them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judge.events import CheckFinished, Event, Restarted
from judge.faults import JudgeFault, Untried
from judge.judging import Judge
from judge.problem import Problem
from judge.verdicts import Verdict
from sandbox.boxes import Box, BoxSpec, EngineGone, Launcher, SandboxError, SharedDir
from tests.judging.boxes import (
    SOON_S,
    all_warm,
    freeze,
    grader_box,
    reserve_box,
    runner_box,
    wait_until,
)
from tests.judging.tiny import HEADER, check_source, tiny_problem

COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
SLOWLY = b"import time\n\ndef double(x):\n    time.sleep(0.3)\n    return x + x\n"
SLEEPS = b"import time\n\ndef double(x):\n    time.sleep(100)\n    return x + x\n"
AT_ONCE_S = 30.0  # on a machine with much to do, and less than any limit that is waited for
BACK_S = 2.0

in_docker = pytest.mark.parametrize("launcher", ["docker"], indirect=True)
in_bwrap = pytest.mark.parametrize("launcher", ["bwrap"], indirect=True)


class Unreliable:
    """A launcher whose engine can be taken away; everything else is real."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self.name = launcher.name
        self.away = False

    def launch(self, spec: BoxSpec, shared: SharedDir) -> Box:
        self._knock()
        return self._launcher.launch(spec, shared)

    def shared_dir(self) -> SharedDir:
        self._knock()
        return self._launcher.shared_dir()

    def remove_orphans(self) -> int:
        return self._launcher.remove_orphans()

    def close(self) -> None:
        """The launcher under it is somebody else's."""

    def _knock(self) -> None:
        if self.away:
            raise EngineGone("no engine answers")


@pytest.fixture
def unreliable(
    launcher: Launcher, warm_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> Unreliable:
    """What the warm judge starts its boxes with, as long as the test lasts."""
    made = Unreliable(launcher)
    monkeypatch.setattr(warm_judge, "_launcher", made)
    return made


@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_killed_while_judging_costs_the_student_nothing(
    warm_judge: Judge, tmp_path: Path, which: Callable[[Judge], Box]
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, CheckFinished) and not any(
            isinstance(each, Restarted) for each in events
        ):
            threading.Thread(target=which(warm_judge).kill).start()

    result = warm_judge.judge(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC
    assert [tier.passed for tier in result.tiers] == [1, 2]
    assert any(isinstance(event, Restarted) for event in events)


@pytest.mark.parametrize(
    ("launcher", "which"),
    [("docker", runner_box), ("bwrap", grader_box)],
    indirect=["launcher"],
    scope="session",  # or the other sandbox's boxes would be started in between
)
def test_a_box_killed_while_idle_is_replaced(
    warm_judge: Judge, tmp_path: Path, which: Callable[[Judge], Box]
) -> None:
    problem = tiny_problem(tmp_path, COMPARES)
    which(warm_judge).kill()
    assert warm_judge.judge(problem, {"solution.py": SLOWLY}).verdict is Verdict.AC


def test_a_run_executes_only_what_the_problem_shows(warm_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    result = warm_judge.judge(problem, {"solution.py": SLOWLY}, kind="run")
    assert (result.kind, result.verdict) == ("run", Verdict.AC)
    assert [tier.total for tier in result.tiers] == [1, 0]


def test_a_broken_problem_is_a_verdict_of_an_attempt_too(warm_judge: Judge, tmp_path: Path) -> None:
    broken = HEADER + check_source("call", "pass") + "\n1 / 0\n"
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=broken)
    assert warm_judge.attempt(problem, {"solution.py": SLOWLY}).verdict is Verdict.JE


# --- faults of ours ------------------------------------------------------------------------------


@in_docker
def test_an_engine_that_goes_away_in_the_middle_blames_nobody_and_is_found_again(
    unreliable: Unreliable, warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    lose_the_engine_in_the_middle(unreliable, warm_judge, problem)
    require_refusals_at_once(warm_judge, problem)
    warm_judge._shared.remove()  # what an engine that starts anew may not have kept
    with pytest.raises(SandboxError):
        warm_judge.recover()
    unreliable.away = False
    warm_judge.recover()
    assert all_warm(warm_judge)
    assert warm_judge.attempt(problem, {"solution.py": SLOWLY}).verdict is Verdict.AC


def lose_the_engine_in_the_middle(launcher: Unreliable, judge: Judge, problem: Problem) -> None:
    """What was said is void, and nothing is said instead."""
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, CheckFinished) and not launcher.away:
            launcher.away = True
            threading.Thread(target=kill_all, args=(judge,)).start()

    with pytest.raises(JudgeFault) as raised:
        judge.attempt(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert not isinstance(raised.value, Untried)
    assert isinstance(events[-1], Restarted)


def kill_all(judge: Judge) -> None:
    boxes = runner_box(judge), grader_box(judge)
    for box in boxes:
        box.kill()


def require_refusals_at_once(judge: Judge, problem: Problem) -> None:
    """Without an engine an attempt is refused, and a submission is told whose fault it is."""
    wait_until(lambda: judge.boxes()["lost"] == 2)
    began = time.monotonic()
    with pytest.raises(Untried):
        judge.attempt(problem, {"solution.py": SLOWLY})
    result = judge.judge(problem, {"solution.py": SLOWLY}, id="mine", seed=3)
    assert time.monotonic() - began < AT_ONCE_S
    assert (result.verdict, result.id, result.seed) == (Verdict.JE, "mine", 3)
    assert "our fault" in result.tiers[0].checks[0].message
    assert judge.boxes()["lost"] == 2


# --- several slots -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_slots(launcher: Launcher) -> Iterator[Judge]:
    with Judge.start(launcher, slots=2, spare=True) as judge:
        yield judge


def test_threads_judge_at_the_same_time_and_each_gets_its_own_verdict(
    two_slots: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES)
    wrong = b"def double(x):\n    return 3 * x\n"
    sources = [SLOWLY, wrong] * 4
    with ThreadPoolExecutor(4) as threads:
        results = threads.map(lambda s: two_slots.attempt(problem, {"solution.py": s}), sources)
        assert [result.verdict for result in results] == [Verdict.AC, Verdict.WA] * 4


@in_docker
def test_a_grader_lost_with_two_jobs_under_way_gives_both_their_verdicts(
    two_slots: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    began = threading.Barrier(3)
    restarted: list[Event] = []

    def attempt(_number: int) -> Verdict | None:
        waited = False

        def listen(event: Event) -> None:
            nonlocal waited
            if isinstance(event, Restarted):
                restarted.append(event)
            if isinstance(event, CheckFinished) and not waited:
                waited = True
                began.wait(SOON_S)

        return two_slots.attempt(problem, {"solution.py": SLOWLY}, on_event=listen).verdict

    with ThreadPoolExecutor(2) as threads:
        verdicts = threads.map(attempt, range(2))
        began.wait(SOON_S)
        grader_box(two_slots).kill()
        assert list(verdicts) == [Verdict.AC] * 2
    assert len(restarted) == 2


# --- the keeper ----------------------------------------------------------------------------------


def test_a_slot_whose_box_dies_in_the_middle_is_back_within_two_seconds(
    two_slots: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    # Three tries: any may meet a machine that is busy with something else.
    assert any(is_back_soon(two_slots, problem) for _ in range(3))


def is_back_soon(judge: Judge, problem: Problem) -> bool:
    """Whether, a runner box having died, another gives the next check its verdict soon.

    On a machine with much to do that is judged by how long the first check took.
    """
    wait_until(lambda: all_warm(judge))
    killed = restarted = back = 0.0

    def listen(event: Event) -> None:
        nonlocal killed, restarted, back
        match event:
            case CheckFinished() if not killed:
                killed = time.monotonic()
                box = runner_box(judge, judge._pool.states().index("busy"))
                threading.Thread(target=box.kill).start()
            case CheckFinished() if restarted and not back:
                back = time.monotonic()
            case Restarted():
                restarted = time.monotonic()

    began = time.monotonic()
    result = judge.attempt(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC
    assert restarted
    return back - killed < max(BACK_S, 3 * (killed - began))


@in_bwrap
def test_idle_boxes_that_die_are_replaced_before_anybody_needs_them(two_slots: Judge) -> None:
    wait_until(lambda: all_warm(two_slots))
    lost, reserve, grader = runner_box(two_slots), reserve_box(two_slots), grader_box(two_slots)
    lost.kill()
    wait_until(lambda: two_slots._slots[0]._box not in (lost, None))
    assert runner_box(two_slots) is reserve
    grader.kill()
    wait_until(lambda: grader_box(two_slots) is not grader)
    wait_until(lambda: all_warm(two_slots))
    assert reserve_box(two_slots) not in (runner_box(two_slots, 0), runner_box(two_slots, 1))


@in_docker
def test_a_lost_reserve_is_replaced(two_slots: Judge) -> None:
    wait_until(lambda: all_warm(two_slots))
    lost = reserve_box(two_slots)
    lost.kill()
    wait_until(lambda: all_warm(two_slots) and reserve_box(two_slots) is not lost)


# --- stopped, not gone ---------------------------------------------------------------------------

# What Docker has paused is tried where a worker judges, which waits for an answer as long as ever:
# tests/service/faults/test_lost_boxes.py.

NEVER_ENDS = b"def double(x):\n    while True:\n        pass\n"


@in_bwrap
@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_stopped_from_outside_is_not_taken_for_slow_code(
    two_slots: Judge, tmp_path: Path, which: Callable[[Judge], Box]
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES, wall_s=2.0)
    wait_until(lambda: all_warm(two_slots))
    stopped = False

    def listen(event: Event) -> None:
        nonlocal stopped
        if isinstance(event, CheckFinished) and not stopped:
            stopped = True
            freeze_busy(two_slots, which)

    result = two_slots.attempt(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC


def freeze_busy(judge: Judge, which: Callable[[Judge], Box]) -> None:
    if which is grader_box:
        freeze(grader_box(judge))
    else:
        freeze(runner_box(judge, judge._pool.states().index("busy")))


@in_bwrap
@pytest.mark.usefixtures("little_patience")
def test_idle_boxes_stopped_from_outside_are_replaced(two_slots: Judge) -> None:
    wait_until(lambda: all_warm(two_slots))
    stopped = [runner_box(two_slots), reserve_box(two_slots)]
    for box in stopped:
        freeze(box)
    wait_until(lambda: not any(box.alive() for box in stopped))
    wait_until(lambda: all_warm(two_slots))


def test_code_that_never_ends_is_tle(two_slots: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES, wall_s=1.0)
    events: list[Event] = []
    result = two_slots.attempt(problem, {"solution.py": NEVER_ENDS}, on_event=events.append)
    assert result.verdict is Verdict.TLE
    assert not any(isinstance(event, Restarted) for event in events)


# --- closed --------------------------------------------------------------------------------------


def test_a_judge_that_is_closed_ends_its_attempt_and_leaves_nothing_even_of_boxes_that_start(
    two_slots: Judge, tmp_path: Path
) -> None:
    # The last of the module: nothing can be judged in it any more.
    problem = tiny_problem(tmp_path, COMPARES, wall_s=200.0)
    wait_until(lambda: all_warm(two_slots))
    with ThreadPoolExecutor(1) as threads:
        attempt = threads.submit(two_slots.attempt, problem, {"solution.py": SLEEPS})
        wait_until(lambda: "busy" in two_slots._pool.states())
        reserve_box(two_slots).kill()
        wait_until(lambda: two_slots.boxes()["starting"] == 1)
        closing_at = time.monotonic()
        two_slots.close()
        with pytest.raises(Untried):
            attempt.result()
        assert time.monotonic() - closing_at < AT_ONCE_S
    assert two_slots.boxes()["lost"] == 4
    assert not two_slots._keeper.is_alive()
