"""Judging one submission: tiers in order, a verdict for every check, and who is to blame.

This runs in a fork of the paused pytest session. A check that passes is AC. A limit that was broken
(TLE, MLE, OLE) and code that cannot be imported (CE) speak for themselves. Any other failure is run
once more on the reference, with the same seed, before anyone is blamed: if the reference fails too,
the check is at fault and its verdict is JE with the author's file and line. A check that hangs by
itself, skips or leaves its session is JE at once. So no mistake of ours or of an author's can cost
a student anything.
"""

from __future__ import annotations

import hashlib
import re
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from _pytest.runner import runtestprotocol
from msgspec import structs

from judge.checks.charts import Charts
from judge.checks.current import CURRENT, Judging
from judge.checks.failures import CheckFailure, SubmissionError, UnusableResult
from judge.checks.fixtures import arguments_of
from judge.checks.local import LocalSubmission
from judge.checks.marks import describe
from judge.checks.submission import Submission
from judge.events import (
    ChartDrawn,
    CheckFinished,
    Finished,
    TierFinished,
    TierStarted,
)
from judge.grader.diagnosis import diagnose
from judge.grader.messages import REFERENCE, CheckCard, GraderTier, Job, ProblemPack
from judge.grader.patience import OutOfPatience, interrupted_after
from judge.grader.remote import CallRecord, RemoteSubmission
from judge.grader.runner import Runner, RunnerFault, RunnerUnavailable, raised_words
from judge.grader.sink import EventSink
from judge.results import Chart, CheckResult, Detail, Diagnosis, Frame, Output
from judge.scratch import SCRATCH_FILE, SCRATCH_TIER, scratch_check, scratch_events
from judge.verdicts import Verdict, first_failing
from sandbox.arrays import Unsendable
from sandbox.protocol import Failure, Load, TooLarge
from sandbox.text import one_line, printable

IMPORT_FACTOR = 2.0  # of the tier's wall time: what all imports of tiers that count may take
RECORDED_BYTES = 64 << 20  # of answers kept per tier; a diagnosis needs all of them, or is silent
_AUTHORS_ALONE = (
    Unsendable,
    TooLarge,
    OutOfPatience,
    pytest.skip.Exception,
    pytest.xfail.Exception,
    pytest.exit.Exception,
    KeyboardInterrupt,
)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_NOT_RAISED = re.compile(r"DID NOT RAISE (?:<class '(?:builtins\.)?)?([\w.]+)(?:'>)?")


@dataclass(frozen=True)
class Checks:
    """The collected checks of one problem version, by tier, in the order they are written."""

    pack: ProblemPack
    folder: Path
    by_tier: dict[str, list[pytest.Item]]

    def cards(self) -> list[CheckCard]:
        """What is known of every check before it runs, in order."""
        cards = []
        for tier, items in self.by_tier.items():
            for item in items:
                about = describe(item)
                cards.append(CheckCard(tier, about.id, about.title, about.kind, about.why))
        return cards

    def one_of_each_kind(self) -> list[pytest.Item]:
        """The first check of every kind: together they use most of what any check uses.

        None of an advisory tier, where a check may be a measurement, which takes a while.
        """
        chosen: dict[str, pytest.Item] = {}
        for tier in self.pack.tiers:
            for item in () if tier.advisory else self.by_tier[tier.id]:
                chosen.setdefault(describe(item).kind, item)
        return list(chosen.values())

    def selected(self, tier: GraderTier, *, visible_only: bool) -> list[pytest.Item]:
        """The checks of a tier to run: all, or those the problem shows as examples."""
        items = self.by_tier[tier.id]
        if not visible_only or tier.visible is True:
            return items
        names = tier.visible or ()
        return [item for item in items if function_name(item) in names]


@dataclass
class Outcome:
    """What one run of a check came to: None, or what it raised."""

    error: BaseException | None
    wall_ms: float


class CheckRunner:
    """Runs pytest items one at a time and catches what they raise, whatever it is."""

    def __init__(self) -> None:
        self._error: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Keep the exception itself; of a report only the outcome.

        pytest's own report reads sources and formats values, which takes longer than a check and
        would have to stay in here anyway.
        """
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.value
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)  # type: ignore[arg-type]  # never "collect"

    def run(
        self, item: pytest.Item, judging: Judging, patience_s: float, runner: Runner | None = None
    ) -> Outcome:
        """Run `item` with `judging` as what its fixtures see, for at most `patience_s` of its own.

        Time in which the check waits for `runner` does not count: that wait has a deadline.
        """
        self._error = None
        item.config.stash[CURRENT] = judging
        started = time.monotonic()
        waiting = (lambda: runner.waiting) if runner is not None else (lambda: False)
        try:
            with interrupted_after(patience_s, "the check itself", waiting):
                self._run_item(item)
        except (pytest.exit.Exception, KeyboardInterrupt) as error:
            # pytest lets these through, and leaves its fixtures as they are.
            self._error = error
            item.session._setupstate.teardown_exact(None)  # noqa: SLF001
        return Outcome(self._error, (time.monotonic() - started) * 1000)

    def _run_item(self, item: pytest.Item) -> None:
        """Without set-up, reports and teardown, which take longer than most checks, if it can be.

        What is called then is called by pytest all the same, which refuses coroutines.
        """
        if not isinstance(item, pytest.Function) or (given := arguments_of(item)) is None:
            runtestprotocol(item, log=False, nextitem=None)
            return
        item.funcargs = given
        try:
            item.runtest()
        except BaseException as error:  # noqa: BLE001  # whatever it raises is how it ended
            self._error = error
        finally:
            item.funcargs = {}


@dataclass
class _TierRun:
    """A tier while it is being judged."""

    tier: GraderTier
    results: list[CheckResult] = field(default_factory=list)
    failed_records: list[CallRecord] = field(default_factory=list)
    passed_records: list[CallRecord] = field(default_factory=list)
    recorded_bytes: int = 0

    def remember(self, records: list[CallRecord], *, passed: bool) -> None:
        """Keep the answers of a check for a diagnosis, within bounds; those of a failure first."""
        self.recorded_bytes += sum(record.answer_bytes for record in records)
        if self.recorded_bytes <= RECORDED_BYTES:
            (self.passed_records if passed else self.failed_records).extend(records)

    def forget_records(self) -> None:
        """Only the first failing tier is ever diagnosed."""
        self.passed_records.clear()
        self.failed_records.clear()

    @property
    def verdict(self) -> Verdict:
        return first_failing(result.verdict for result in self.results)

    @property
    def passed(self) -> int:
        return sum(result.verdict is Verdict.AC for result in self.results)


class Grading:
    """One job, from the first tier to the final verdict."""

    def __init__(
        self,
        checks: Checks,
        runner_of_checks: CheckRunner,
        job: Job,
        emit: EventSink,
    ) -> None:
        self._checks = checks
        self._pack = checks.pack
        self._check_runner = runner_of_checks
        self._job = job
        self._emit = emit
        self._runner: Runner | None = None
        self._submission: RemoteSubmission | None = None
        self._outputs: list[tuple[str, bool]] = []
        self._allow_imports()
        setting = self._pack.setting
        own = structs.replace(setting, library={**setting.library, **job.dependencies})
        self._sources = Load(job.files, own, students_seed(job.seed))
        self._verdicts: dict[str, Verdict] = {}
        self._ended = False
        self._timed_ms = 0.0
        self.spans = {"fork": round((time.monotonic() - job.sent_s) * 1000, 3)}

    def run(self) -> None:
        """Judge every tier that can run, or run the scratch file, and emit `Finished` last."""
        if self._job.scratch is not None:
            self._run_scratch(self._job.scratch)
            return
        runs = [self._tier(tier) for tier in self._pack.tiers]
        counting = [run for run in runs if not run.tier.advisory]
        with self._span("diagnosis"):
            diagnosis = self._diagnosis(counting)
        self._give_back_runner("released")
        total = sum(len(run.results) for run in counting)
        self._emit(
            Finished(
                verdict=first_failing(run.verdict for run in counting),
                score=sum(run.passed for run in counting) / total if total else 0.0,
                diagnosis=diagnosis,
                output=self._output(),
                spans=self.spans,
            )
        )

    # --- the scratch file ------------------------------------------------------------------

    def _run_scratch(self, source: bytes) -> None:
        self._emit(TierStarted(tier=SCRATCH_TIER))
        with self._span(SCRATCH_TIER):
            check = self._scratch_result(source)
        self._give_back_runner("released")
        for event in scratch_events(check, [tier.id for tier in self._pack.tiers]):
            self._emit(event)
        score = float(check.verdict is Verdict.AC)
        self._emit(
            Finished(verdict=check.verdict, score=score, output=self._output(), spans=self.spans)
        )

    def _scratch_result(self, source: bytes) -> CheckResult:
        began = time.monotonic()
        try:
            runner = self._ready_runner()
            began = time.monotonic()
            runner.execute(SCRATCH_FILE, source)
        except RunnerFault as fault:
            wall_ms, detail = (time.monotonic() - began) * 1000, frames_detail(fault.failure)
            return scratch_check(fault.verdict, fault.message, detail, wall_ms)
        return scratch_check(Verdict.AC, wall_ms=(time.monotonic() - began) * 1000)

    # --- tiers -----------------------------------------------------------------------------

    def _tier(self, tier: GraderTier) -> _TierRun:
        run = _TierRun(tier)
        items = self._checks.selected(tier, visible_only=self._job.visible_only)
        if not self._may_run(tier) or not items:
            run.results = [_skipped(item) for item in items]
            for result in run.results:
                self._emit(CheckFinished(tier=tier.id, check=result))
        else:
            self._emit(TierStarted(tier=tier.id))
            if tier.advisory:
                self._allow_imports()  # it may need fresh children; what the others have is theirs
            with self._span(tier.id):
                self._run_checks(run, items)
        if tier.advisory or run.verdict in (Verdict.AC, Verdict.SK):
            run.forget_records()
        self._verdicts[tier.id] = run.verdict
        self._ended = self._ended or (run.verdict.ends_judging and not tier.advisory)
        if tier.advisory and tier is not self._pack.tiers[-1]:
            self._give_back_runner()  # what it used up, or will die of, is no later tier's concern
            self._allow_imports()
        self._emit(
            TierFinished(
                tier=tier.id, verdict=run.verdict, passed=run.passed, total=len(run.results)
            )
        )
        return run

    def _may_run(self, tier: GraderTier) -> bool:
        met = all(self._verdicts.get(needed) is Verdict.AC for needed in tier.requires)
        return met and not self._ended

    def _run_checks(self, run: _TierRun, items: Sequence[pytest.Item]) -> None:
        fault: RunnerFault | None = None
        if self._runner is not None:
            self._runner.budget_s = self._job.limits.wall_s
        for item in items:
            if fault is None:
                result, fault = self._check(run, item)
            else:
                result = _skipped(item)
            run.results.append(result)
            self._emit(CheckFinished(tier=run.tier.id, check=result))
        if fault is not None:
            self._give_back_runner()

    def _check(self, run: _TierRun, item: pytest.Item) -> tuple[CheckResult, RunnerFault | None]:
        try:
            submission = self._ready_submission()
        except RunnerFault as refused:
            detail = frames_detail(refused.failure)
            return _result(item, refused.verdict, refused.message, detail), refused
        records = submission.start_check()
        charts = Charts(self._job.charts_of)
        outcome = self._run_check(item, submission, charts)
        if isinstance(outcome.error, RunnerUnavailable):
            raise outcome.error
        self._draw(charts, run.tier)
        fault = self._runner.fault if self._runner else None
        if fault is not None:  # also when the check swallowed it
            outcome = Outcome(fault, outcome.wall_ms)
        if outcome.error is None:
            run.remember(records, passed=True)
            return _result(item, Verdict.AC, wall_ms=outcome.wall_ms), None
        run.remember(records, passed=False)
        return self._blame(item, outcome), fault

    def _draw(self, charts: Charts, tier: GraderTier) -> None:
        for chart in charts.recorded:
            # Made of plain JSON by `Charts`; to validate each number again takes milliseconds.
            drawn = Chart.model_construct(
                id=chart.id,
                tier=tier.id,
                title=chart.title,
                source=charts.source,
                spec=chart.spec,
                table=chart.table,
            )
            self._emit(ChartDrawn(chart=drawn))

    def _run_check(self, item: pytest.Item, submission: Submission, charts: Charts) -> Outcome:
        judging = Judging(submission, self._job.seed, charts)
        patience_s = self._pack.check_patience_s
        return self._check_runner.run(item, judging, patience_s, self._runner)

    # --- blame -----------------------------------------------------------------------------

    def _blame(self, item: pytest.Item, outcome: Outcome) -> CheckResult:
        error = outcome.error
        if isinstance(error, RunnerFault) and error.verdict not in (Verdict.WA, Verdict.RE):
            detail = frames_detail(error.failure)
            return _result(item, error.verdict, error.message, detail, outcome.wall_ms)
        author_error = error if _is_authors(error) else self._error_on_reference(item)
        if author_error is not None:
            message = self._author_message(author_error)
            return _result(item, Verdict.JE, message, wall_ms=outcome.wall_ms)
        verdict, message, detail = _student_failure(error)
        return _result(item, verdict, message, detail, outcome.wall_ms)

    def _error_on_reference(self, item: pytest.Item) -> BaseException | None:
        """What the same check with the same seed raises on the reference, None if it passes."""
        setting = self._pack.setting
        reference = LocalSubmission.from_sources({setting.main: self._pack.reference}, setting)
        return self._run_check(item, reference, Charts("reference")).error

    def _author_message(self, error: BaseException) -> str:
        line = _reference_line(error, self._pack.setting.main) or author_line(
            error, self._checks.folder
        )
        place = f"problems/{self._pack.slug}" + (f"/{line[0]}:{line[1]}" if line else "")
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return (
            f"This check is broken, not your code: the reference does not pass it either. "
            f"{place}: {printable(said, 400)}"
        )

    def _diagnosis(self, runs: Sequence[_TierRun]) -> list[Diagnosis]:
        for run in runs:
            if run.verdict in (Verdict.WA, Verdict.RE):
                if run.recorded_bytes > RECORDED_BYTES:
                    return []
                records = [*run.failed_records, *run.passed_records]
                return diagnose(self._pack, records, students_seed(self._job.seed))
        return []

    # --- the runner ------------------------------------------------------------------------

    def _ready_submission(self) -> RemoteSubmission:
        """The loaded submission; leases a fresh child when the last one is gone."""
        runner = self._ready_runner()
        if self._submission is None:
            self._submission = RemoteSubmission(runner, self._renew_child)
        return self._submission

    def _renew_child(self) -> None:
        """Change to a fresh child with the submission loaded, within a check that asks for it."""
        runner = self._ready_runner()
        with self._span("runner"):
            runner.renew()
        self._load_into(runner)

    def _ready_runner(self) -> Runner:
        if self._runner is None:
            with self._span("runner"):
                self._runner = Runner(self._job, self._emit.flush)
            try:
                self._load_into(self._runner)
            except RunnerFault:
                self._give_back_runner()
                raise
        return self._runner

    def _allow_imports(self) -> None:
        """Let the time for imports begin anew."""
        self._import_left_s = IMPORT_FACTOR * self._job.limits.wall_s

    def _load_into(self, runner: Runner) -> None:
        with self._span("import"):
            self._import_left_s = runner.load(self._sources, self._import_left_s)

    def _give_back_runner(self, span: str = "replaced") -> None:
        if self._runner is None:
            return
        with self._span(span):
            self._outputs.append(self._runner.close())
        self._runner = self._submission = None

    def _output(self) -> Output:
        return Output(
            text="".join(text for text, _ in self._outputs),
            truncated=any(truncated for _, truncated in self._outputs),
        )

    # --- time ------------------------------------------------------------------------------

    @contextmanager
    def _span(self, name: str) -> Iterator[None]:
        """Time this part of the work, without the parts inside it that are timed themselves."""
        started, inside_before_ms = time.monotonic(), self._timed_ms
        try:
            yield
        finally:
            elapsed_ms = (time.monotonic() - started) * 1000
            own_ms = elapsed_ms - (self._timed_ms - inside_before_ms)
            self.spans[name] = round(self.spans.get(name, 0.0) + own_ms, 3)
            self._timed_ms = inside_before_ms + elapsed_ms


def students_seed(seed: int) -> int:
    """For the generators in the student's process; says nothing about the seed of the inputs."""
    digest = hashlib.sha256(f"student {seed}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def function_name(item: pytest.Item) -> str:
    """The name of a check's function, without its parameters."""
    return getattr(item, "originalname", None) or item.name


def author_line(error: BaseException, folder: Path) -> tuple[str, int] | None:
    """The innermost line of the author's files in a traceback: path in the folder, and line."""
    if isinstance(error, SyntaxError) and Path(error.filename or "").is_relative_to(folder):
        return str(Path(error.filename or "").relative_to(folder)), error.lineno or 1
    for entry in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(entry.filename)
        if path.is_relative_to(folder):
            return str(path.relative_to(folder)), entry.lineno or 1
    return None


def _reference_line(error: BaseException, main: str) -> tuple[str, int] | None:
    """Where the reference raised, if that is what happened; it runs under the student's name."""
    if not isinstance(error, SubmissionError):
        return None
    lines = [frame.line for frame in error.failure.frames if frame.file == main]
    return (REFERENCE, lines[-1]) if lines else None


def _is_authors(error: BaseException | None) -> bool:
    """Errors that no submission can cause: a hanging check, and one that leaves its session."""
    return isinstance(error, _AUTHORS_ALONE)


def _student_failure(error: BaseException | None) -> tuple[Verdict, str, Detail | None]:
    match error:
        case RunnerFault():
            return error.verdict, error.message, frames_detail(error.failure)
        case CheckFailure():
            return Verdict.WA, str(error), error.detail
        case SubmissionError():
            said = raised_words(error.failure)
            return Verdict.RE, f"The code raised {said}", frames_detail(error.failure)
        case UnusableResult():
            return Verdict.RE, str(error), None
        case AssertionError() | pytest.fail.Exception():
            return Verdict.WA, _missed_error(str(error)) or "This does not hold.", None
        case _:
            said = _ADDRESS.sub("0x…", printable(f"{type(error).__name__}: {error}", 300))
            return Verdict.WA, f"The check could not use what the code returned ({said}).", None


def _missed_error(words: str) -> str:
    """The words of a failure; those of `pytest.raises`, which are for testers, in plain ones."""
    return _NOT_RAISED.sub(r"This was to raise \1, and raised nothing.", words)


def frames_detail(failure: Failure | None) -> Detail | None:
    """The student's own lines in what was raised."""
    if failure is None:
        return None
    frames = [
        Frame(
            file=one_line(frame.file),
            line=frame.line,
            function=one_line(frame.function),
            text=one_line(frame.text),
        )
        for frame in failure.frames
    ]
    if frames and frames[-1].line == failure.syntax_line:  # the compiler's own place, with a column
        frames[-1] = Frame(
            file=frames[-1].file,
            line=failure.syntax_line,
            function="",
            text=one_line(failure.syntax_text.rstrip("\n")),
            column=_shown_column(failure),
        )
    return Detail(frames=frames) if frames else None


def _shown_column(failure: Failure) -> int | None:
    """The column in the line as it is shown, where escapes take more than one place."""
    if failure.syntax_column is None:
        return None
    return len(one_line(failure.syntax_text[: max(failure.syntax_column - 1, 0)])) + 1


def _skipped(item: pytest.Item) -> CheckResult:
    return _result(item, Verdict.SK)


def _result(
    item: pytest.Item,
    verdict: Verdict,
    message: str = "",
    detail: Detail | None = None,
    wall_ms: float = 0.0,
) -> CheckResult:
    about = describe(item)
    return CheckResult(
        id=about.id,
        title=about.title,
        kind=about.kind,
        why=about.why,
        verdict=verdict,
        message=message,
        detail=detail,
        wall_ms=round(wall_ms, 3),
    )
