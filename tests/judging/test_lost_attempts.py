"""What dies on our side is replaced, and the submission is judged again."""

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
from tests.judging.boxes import all_warm, freeze, grader_box, reserve_box, runner_box, wait_until
from tests.judging.tiny import HEADER, check_source, tiny_problem

COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
SLOWLY = b"import time\n\ndef double(x):\n    time.sleep(0.3)\n    return x + x\n"


@pytest.fixture
def own_judge(launcher: Launcher) -> Iterator[Judge]:
    """A judge whose boxes a test may kill."""
    with Judge.start(launcher) as judge:
        yield judge


@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_killed_while_judging_costs_the_student_nothing(
    own_judge: Judge, tmp_path: Path, which: object
) -> None:
    assert callable(which)
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, CheckFinished) and not any(
            isinstance(each, Restarted) for each in events
        ):
            threading.Thread(target=which(own_judge).kill).start()

    result = own_judge.judge(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC
    assert [tier.passed for tier in result.tiers] == [1, 2]
    assert any(isinstance(event, Restarted) for event in events)


@pytest.mark.parametrize("which", [runner_box, grader_box])
def test_a_box_killed_while_idle_is_replaced(
    own_judge: Judge, tmp_path: Path, which: object
) -> None:
    assert callable(which)
    problem = tiny_problem(tmp_path, COMPARES)
    which(own_judge).kill()
    assert own_judge.judge(problem, {"solution.py": SLOWLY}).verdict is Verdict.AC


def test_a_run_executes_only_what_the_problem_shows(own_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    result = own_judge.judge(problem, {"solution.py": SLOWLY}, kind="run")
    assert (result.kind, result.verdict) == ("run", Verdict.AC)
    assert [tier.total for tier in result.tiers] == [1, 0]


# --- faults of ours ------------------------------------------------------------------------------


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
def unreliable(launcher: Launcher) -> Iterator[tuple[Unreliable, Judge]]:
    made = Unreliable(launcher)
    with Judge.start(made) as judge:
        yield made, judge


def kill_all(judge: Judge) -> None:
    runner_box(judge).kill()
    grader_box(judge).kill()


def test_without_an_engine_an_attempt_is_refused_at_once_and_blames_nobody(
    unreliable: tuple[Unreliable, Judge], tmp_path: Path
) -> None:
    launcher, judge = unreliable
    problem = tiny_problem(tmp_path, COMPARES)
    launcher.away = True
    kill_all(judge)
    began = time.monotonic()
    with pytest.raises(Untried):
        judge.attempt(problem, {"solution.py": SLOWLY})
    result = judge.judge(problem, {"solution.py": SLOWLY}, id="mine", seed=3)
    assert time.monotonic() - began < 5
    assert (result.verdict, result.id, result.seed) == (Verdict.JE, "mine", 3)
    assert "our fault" in result.tiers[0].checks[0].message
    assert judge.boxes()["lost"] == 2


def test_a_judge_recovers_once_the_engine_answers(
    unreliable: tuple[Unreliable, Judge], tmp_path: Path
) -> None:
    launcher, judge = unreliable
    problem = tiny_problem(tmp_path, COMPARES)
    judge.attempt(problem, {"solution.py": SLOWLY})
    launcher.away = True
    kill_all(judge)
    judge._shared.remove()  # what an engine that starts anew may not have kept
    with pytest.raises(SandboxError):
        judge.recover()
    launcher.away = False
    judge.recover()
    assert all_warm(judge)
    assert judge.attempt(problem, {"solution.py": SLOWLY}).verdict is Verdict.AC


def test_an_engine_lost_in_the_middle_voids_what_was_said(
    unreliable: tuple[Unreliable, Judge], tmp_path: Path
) -> None:
    launcher, judge = unreliable
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, CheckFinished):
            launcher.away = True
            threading.Thread(target=kill_all, args=(judge,)).start()

    with pytest.raises(JudgeFault) as raised:
        judge.attempt(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert not isinstance(raised.value, Untried)
    assert isinstance(events[-1], Restarted)


def test_an_attempt_in_a_judge_that_is_closed_ends(own_judge: Judge, tmp_path: Path) -> None:
    problem = tiny_problem(tmp_path, COMPARES, wall_s=30.0)
    hangs = b"import time\n\ndef double(x):\n    time.sleep(20)\n    return x + x\n"
    began = time.monotonic()
    threading.Timer(2.0, own_judge.close).start()
    with pytest.raises(Untried):
        own_judge.attempt(problem, {"solution.py": hangs})
    assert time.monotonic() - began < 10


def test_a_broken_problem_is_a_verdict_of_an_attempt_too(own_judge: Judge, tmp_path: Path) -> None:
    broken = HEADER + check_source("call", "pass") + "\n1 / 0\n"
    problem = tiny_problem(tmp_path, COMPARES, checks_test_t0_interface_py=broken)
    assert own_judge.attempt(problem, {"solution.py": SLOWLY}).verdict is Verdict.JE


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
                began.wait(20)

        return two_slots.attempt(problem, {"solution.py": SLOWLY}, on_event=listen).verdict

    with ThreadPoolExecutor(2) as threads:
        verdicts = threads.map(attempt, range(2))
        began.wait(20)
        grader_box(two_slots).kill()
        assert list(verdicts) == [Verdict.AC] * 2
    assert len(restarted) == 2


# --- the keeper ----------------------------------------------------------------------------------


def test_a_slot_whose_box_dies_in_the_middle_is_back_within_two_seconds(
    two_slots: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES, COMPARES)
    # Three tries: the first may meet a machine that is busy with something else.
    assert any(seconds_to_recover(two_slots, problem) < 2.0 for _ in range(3))


def seconds_to_recover(judge: Judge, problem: Problem) -> float:
    """From the death of a runner box to the next check's verdict from its successor."""
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

    result = judge.attempt(problem, {"solution.py": SLOWLY}, on_event=listen)
    assert result.verdict is Verdict.AC
    assert restarted
    return back - killed


def test_an_idle_box_that_dies_is_replaced_before_anybody_needs_it(two_slots: Judge) -> None:
    wait_until(lambda: all_warm(two_slots))
    lost = runner_box(two_slots)
    lost.kill()
    assert wait_until(lambda: two_slots._slots[0].state == "warm") < 2.0
    wait_until(lambda: all_warm(two_slots))
    assert reserve_box(two_slots) not in (runner_box(two_slots, 0), runner_box(two_slots, 1))


def test_a_lost_reserve_and_a_lost_grader_are_replaced(two_slots: Judge) -> None:
    wait_until(lambda: all_warm(two_slots))
    reserve_box(two_slots).kill()
    grader_box(two_slots).kill()
    wait_until(lambda: two_slots.boxes()["lost"] > 0, 5)
    wait_until(lambda: all_warm(two_slots))


def test_nothing_is_left_of_a_judge_that_is_closed_while_boxes_start(launcher: Launcher) -> None:
    with Judge.start(launcher, spare=True) as judge:
        runner_box(judge).kill()
        time.sleep(0.7)  # the keeper has begun to start boxes
    assert judge.boxes()["lost"] == 3
    assert not judge._keeper.is_alive()


# --- stopped, not gone ---------------------------------------------------------------------------

NEVER_ENDS = b"def double(x):\n    while True:\n        pass\n"


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
