"""Grading a student's own tests: on right solutions they must pass, on mutants some must fail.

Theory of operation
-------------------
The tests run on the reference three times, once on every other accepted solution and once on every
graded mutant: each time all of them, in a fresh child, on an implementation in a new disguise, in a
sequence and an order of tests that the job's seed draws. Nothing that a test could see tells it
which run it is in, so the only way to pass on right solutions and to fail on mutants is to test.

A mutant is noticed when a test fails on it, raises, hangs or ends the process. What happens on a
right solution is the tests' fault, and ends the grading: there is nothing to be learnt from tests
that refuse right answers. A solution that cannot be loaded is the exercise's fault, a runner box
that fails is ours; neither is ever charged.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import structs

from judge.events import ChartDrawn, Finished, MutantFinished, TierStarted
from judge.grader.disguise import Disguises
from judge.grader.grading import IMPORT_FACTOR
from judge.grader.messages import Job, OwnTestsPack, ProblemPack
from judge.grader.runner import OUT_OF_TURN, Runner, RunnerFault, RunnerUnavailable
from judge.grader.sink import EventSink
from judge.grader.suite_report import judge_trials, matrix_chart, tests_of
from judge.grader.trials import Trial, variants_of
from judge.own_tests import TESTS_TIER, suite_check, tests_events
from judge.verdicts import Verdict, first_failing
from sandbox.protocol import (
    FILE_ORDER,
    REVERSED,
    CollectedTests,
    Load,
    OwnTest,
    RanTest,
    RanTests,
    RefusedTests,
    RunTests,
)
from sandbox.text import one_line

SEEDS = 1 << 32
_SHUFFLED = 2  # and every larger seed: neither of the two orders that have a name


class BrokenExercise(Exception):
    """A solution of the exercise's own cannot be loaded; the message says which, and why."""


class MutationGrading:
    """One job, from the first run of its tests to the final verdict."""

    def __init__(
        self,
        pack: ProblemPack,
        own: OwnTestsPack,
        disguises: Disguises,
        job: Job,
        emit: EventSink,
    ) -> None:
        self._pack = pack
        self._own = own
        self._disguises = disguises
        self._job = job
        self._emit = emit
        self._dice = random.Random(f"own tests {job.seed}")  # noqa: S311  # to be replayed
        self._setting = structs.replace(pack.setting, harness=None, forbidden=[])
        self._trials: list[Trial] = []
        self._announced: set[str] = set()
        self.spans = {"fork": round((time.monotonic() - job.sent_s) * 1000, 3)}

    def run(self) -> None:
        """Run everything that there is to learn from, and emit `Finished` last."""
        self._emit(TierStarted(tier=TESTS_TIER))
        mutation = None
        try:
            self._run_trials()
        except BrokenExercise as broken:
            said = f"This exercise is broken, not your tests. {broken}"
            checks = [suite_check(Verdict.JE, said)]
        else:
            checks, mutation = judge_trials(self._trials, self._own)
        if mutation is not None and mutation.mutants:
            self._emit(ChartDrawn(chart=matrix_chart(mutation)))
        for event in tests_events(checks, [tier.id for tier in self._pack.tiers]):
            self._emit(event)
        self._emit(
            Finished(
                verdict=first_failing(check.verdict for check in checks),
                score=mutation.score if mutation else 0.0,
                mutation=mutation,
                spans={name: round(ms, 3) for name, ms in self.spans.items()},
            )
        )

    # --- running ---------------------------------------------------------------------------

    def _run_trials(self) -> None:
        """Stop where there is no more to learn. Raises `BrokenExercise`, `RunnerUnavailable`.

        Once something went wrong on a right solution, only the reference can say more: whether it
        is so there, and each time.
        """
        wrong = False
        for trial in self._plan():
            if wrong and trial.variant.role != "reference":
                continue
            self._try(trial)
            self._trials.append(trial)
            if trial.variant.role == "reference" and not trial.tests_ran:
                return
            wrong = wrong or (trial.variant.is_right and not trial.passed)
            if not wrong:
                self._announce_mutants()

    def _plan(self) -> list[Trial]:
        orders = [FILE_ORDER, REVERSED, self._seed()]
        self._dice.shuffle(orders)
        trials = []
        for variant in variants_of(self._pack, self._own):
            known = variant.role == "reference"
            any_order = self._dice.choice([FILE_ORDER, REVERSED, self._seed()])
            order = orders.pop() if known else any_order
            trials.append(Trial(variant, order, self._seed()))
        self._dice.shuffle(trials)
        return trials

    def _seed(self) -> int:
        return self._dice.randrange(_SHUFFLED, SEEDS)

    def _try(self, trial: Trial) -> None:
        with self._span("disguise"):  # while the zygote makes the next child
            source = self._disguises.of(trial.variant.source, self._dice)
        with self._span("runner"):
            runner = Runner(self._job, self._emit.flush)
        try:
            with self._span("import"):
                self._load(runner, trial, source)
            with self._span("tests"):
                self._listen(runner, trial)
        except RunnerFault as fault:
            trial.fault = fault
        finally:
            with self._span("released"):
                runner.close()
        late = trial.fault is not None and trial.fault.verdict is Verdict.TLE
        if late and runner.report is None:  # the box was stopped, and not the tests too slow
            raise RunnerUnavailable("the runner box does not say how its child ended")

    def _load(self, runner: Runner, trial: Trial, source: bytes) -> None:
        """Import an implementation of ours, so that nothing that goes wrong is the student's."""
        load = Load({self._setting.main: source}, self._setting, trial.seed)
        try:
            runner.load(load, IMPORT_FACTOR * self._job.limits.wall_s)
        except RunnerFault as fault:
            said = f"{trial.variant.words} could not be loaded: {fault.message}"
            if fault.verdict is Verdict.CE:
                raise BrokenExercise(f"problems/{self._pack.slug}: {said}") from None
            raise RunnerUnavailable(said) from None

    def _listen(self, runner: Runner, trial: Trial) -> None:
        """Take what the tests come to. Raises `RunnerFault`."""
        request = RunTests(runner.next_id(), self._job.tests, list(self._own.imports), trial.order)
        names: list[str] = []
        waiting: list[int] = []
        began = time.monotonic()
        for reply in runner.run_tests(request):
            match reply:
                case RefusedTests() if trial.tests is None and reply.file in self._job.tests:
                    trial.refusal = reply
                case CollectedTests(tests=tests, order=order) if trial.tests is None and _fit(
                    tests, order
                ):
                    trial.tests = [OwnTest(one_line(t.name), one_line(t.title)) for t in tests]
                    names = [test.name for test in trial.tests]
                    waiting = order[::-1]
                case RanTest(test=test, failure=failure) if waiting and test == waiting[-1]:
                    name = names[waiting.pop()]
                    trial.wall_ms[name] = (time.monotonic() - began) * 1000
                    if failure is not None:
                        trial.failures[name] = failure
                case RanTests() if trial.tests is not None and not waiting:
                    trial.running = None
                    return
                case _:
                    raise runner.fail(Verdict.RE, OUT_OF_TURN)
            trial.running = names[waiting[-1]] if waiting else trial.running
            began = time.monotonic()

    def _announce_mutants(self) -> None:
        """Tell of every mutant that was tried, once it is known which tests there are."""
        names = [test.name for test in self._tests()]
        for trial in self._trials if names else ():
            mutant = trial.variant.mutant
            if mutant is None or mutant.id in self._announced:
                continue
            self._announced.add(mutant.id)
            self._emit(
                MutantFinished(
                    mutant=mutant.id,
                    killed_by=trial.failing(names),
                    done=len(self._announced),
                    total=len(self._own.mutants),
                )
            )

    def _tests(self) -> list[OwnTest]:
        return tests_of(self._trials)

    # --- time ------------------------------------------------------------------------------

    @contextmanager
    def _span(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            elapsed_ms = (time.monotonic() - started) * 1000
            self.spans[name] = self.spans.get(name, 0.0) + elapsed_ms


def _fit(tests: list[OwnTest], order: list[int]) -> bool:
    """Whether every test comes once in the order, and has a name of its own."""
    names = {one_line(test.name) for test in tests}
    return sorted(order) == list(range(len(tests))) and len(names) == len(tests)
