"""A paused pytest session of one problem version, forked for every submission.

The session collects the problem's checks once, runs them on the reference so that everything lazy
is warm, compiles the known mistakes, settles its heap, lets a fork run the checks again to see
which memory they write to, and then waits inside `pytest_runtestloop`. A job is a fork of that,
made ahead of time, with its own copy of that memory: its checks start at once, and nothing a job
does can reach the next one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from judge.checks import fixtures
from judge.checks.charts import Charts
from judge.checks.current import Judging
from judge.checks.local import LocalSubmission
from judge.checks.marks import CheckDefinitionError, describe, line_of
from judge.grader.diagnosis import compile_ahead
from judge.grader.disguise import Disguises
from judge.grader.grading import CheckRunner, Checks, Grading, author_line
from judge.grader.messages import (
    REFERENCE,
    ChildEvent,
    ChildLostRunner,
    ChildStarted,
    Job,
    ProblemPack,
    SessionBroken,
    SessionOpened,
    StartJob,
    encode,
)
from judge.grader.mutation import MutationGrading
from judge.grader.patience import OutOfPatience, interrupted_after
from judge.grader.rehearsal import rehearse
from judge.grader.runner import RunnerUnavailable
from judge.grader.sink import EventSink
from sandbox.protocol import (
    MAX_ARGUMENT_BYTES,
    Connection,
    ConnectionLost,
    Granted,
    LeaseReply,
    Reply,
    decoder_of,
)
from sandbox.runner import heap
from sandbox.runner.failures import describe_exception
from sandbox.runner.forbidden import UnknownName, what_is_guarded
from sandbox.runner.loading import CompileRefused
from sandbox.runner.pages import WrittenPages

_WARM_SEED = 0
_QUICK_S = 5.0  # for all checks together
_IMPORT_PATIENCE_S = 10.0  # with a file of checks
_REHEARSAL_PATIENCE_S = 2.0  # a check that takes longer is fine, but no use for warming up
_FORBIDDEN_MARKS = ("skip", "skipif", "xfail")
_PLUGINS_OFF = (
    *("cacheprovider", "terminal", "faulthandler", "logging", "doctest", "junitxml", "pastebin"),
    *("stepwise", "unraisableexception", "threadexception", "warnings"),
)
_OPTIONS = [
    "--capture=sys",  # the default captures descriptors, which concurrent forks share
    "--disable-plugin-autoload",  # the host's own plugins are there where bubblewrap is used
    "--assert=plain",  # a rewritten assert would put the oracle's values into its message
    *(option for plugin in _PLUGINS_OFF for option in ("-p", f"no:{plugin}")),
]


class BrokenProblem(Exception):
    """The checks cannot be collected as they are: the author's file, line and what to do."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.message = message


def main(pack: ProblemPack, folder: Path, link: Connection) -> None:
    """Collect, report to `link`, then fork for every `StartJob` until `link` closes."""
    paused = _PausedSession(pack, folder, link)
    files = [str(folder / tier.checks_file) for tier in pack.tiers]
    plugins = [paused, paused.check_runner, fixtures]
    pytest.main([*_OPTIONS, "--rootdir", str(folder), "-c", os.devnull, *files], plugins)
    if not paused.opened:
        broken = paused.broken or BrokenProblem("problem.toml", 1, "pytest could not start")
        link.send(SessionBroken(broken.file, broken.line, broken.message))


class _PausedSession:
    """The pytest plugin that turns a session into a server of forks."""

    def __init__(self, pack: ProblemPack, folder: Path, link: Connection) -> None:
        self._pack = pack
        self._folder = folder
        self._link = link
        self.check_runner = CheckRunner()
        self._disguises: Disguises | None = None
        self._written = WrittenPages(())
        self.opened = False
        self.broken: BrokenProblem | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Interrupt a file of checks that hangs, so that it can be said where."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        with interrupted_after(_IMPORT_PATIENCE_S, "importing it"):
            return (yield)

    def pytest_exception_interact(
        self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[object]
    ) -> None:
        """Keep the first thing that went wrong while collecting."""
        if isinstance(node, pytest.Collector) and call.excinfo and self.broken is None:
            file = str(node.path.relative_to(self._folder))
            self.broken = _collect_fault(call.excinfo.value, file, self._folder)
            node.session.shouldstop = "what comes after it will not be run"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve jobs instead of running the collected items."""
        if self.broken is not None:
            return True
        try:
            self._examine_rules()
            self._disguises = self._prepare_disguises()
            checks = self._checks(session)
            self._warm_up(checks)
        except BrokenProblem as broken:
            self.broken = broken
            return True
        self.opened = True
        self._link.send(SessionOpened(checks.cards()))
        self._serve(checks)
        return True

    def _checks(self, session: pytest.Session) -> Checks:
        by_tier: dict[str, list[pytest.Item]] = {}
        for tier in self._pack.tiers:
            path = self._folder / tier.checks_file
            items = [item for item in session.items if item.path == path]
            if not items:
                raise BrokenProblem(tier.checks_file, 1, "this file has no checks: add some")
            for item in items:
                self._examine(item)
            by_tier[tier.id] = items
        return Checks(self._pack, self._folder, by_tier)

    def _prepare_disguises(self) -> Disguises | None:
        """What the implementations will look like that students' tests run on, if they may."""
        own = self._pack.own_tests
        if own is None:
            return None
        try:
            mutants = [mutant.source for mutant in own.mutants]
            return Disguises([self._pack.reference, *mutants], own.alternatives)
        except SyntaxError as error:
            message = f"a solution that students' tests are to run on does not compile: {error}"
            raise BrokenProblem("mutants.toml", 1, message) from None

    def _examine_rules(self) -> None:
        """Every forbidden name stands for something that can be guarded."""
        for entry in self._pack.setting.forbidden:
            try:
                what_is_guarded(entry.name)
            except UnknownName as error:
                raise BrokenProblem("problem.toml", 1, f"[[forbidden]]: {error}") from None

    def _examine(self, item: pytest.Item) -> None:
        path, line = line_of(item)
        file = str(path.relative_to(self._folder))
        for mark in item.iter_markers():
            if mark.name in _FORBIDDEN_MARKS:
                raise BrokenProblem(file, line, f"{item.name} is marked {mark.name}: remove it")
        try:
            describe(item)
        except CheckDefinitionError as error:
            said = str(error).removeprefix(f"{path.name}:{line}: ")
            raise BrokenProblem(file, line, said) from None

    def _warm_up(self, checks: Checks) -> None:
        """Run every check on the reference: here, to be warm, and in a fork, for what it writes to.

        Slow checks are not run twice for that: to copy memory is a small part of what they take.
        What fails here fails, and is blamed, later.
        """
        for kind in (StartJob, Job, Granted, LeaseReply, Reply):
            decoder_of(kind)
        started = time.monotonic()
        self._rehearse_all(checks)
        is_quick = time.monotonic() - started < _QUICK_S
        compile_ahead(self._pack)
        heap.settle()
        if is_quick:
            self._written = WrittenPages.by(lambda: self._rehearse_all(checks))

    def _rehearse_all(self, checks: Checks) -> None:
        for items in checks.by_tier.values():
            if not self._rehearse(items):
                break

    def _rehearse(self, items: Sequence[pytest.Item]) -> bool:
        """Run checks on the reference for what it leaves warm; False when one of them hangs."""
        reference = self._load_reference()
        for item in items:
            judging = Judging(reference, _WARM_SEED, Charts("reference"))
            outcome = self.check_runner.run(item, judging, _REHEARSAL_PATIENCE_S)
            if isinstance(outcome.error, OutOfPatience):
                return False
        return True

    def _load_reference(self) -> LocalSubmission:
        sources = {self._pack.setting.main: self._pack.reference}
        try:
            with interrupted_after(_REHEARSAL_PATIENCE_S, "importing it"):
                return LocalSubmission.from_sources(sources, self._pack.setting)
        except CompileRefused as refused:
            failure = refused.failure
        except (Exception, OutOfPatience) as error:  # noqa: BLE001  # an author's code
            failure = describe_exception(error, sources)
        line = failure.frames[-1].line if failure.frames else 1
        message = f"importing it raised {failure.kind}: {failure.message}"
        raise BrokenProblem(REFERENCE, line, message)

    def _serve(self, checks: Checks) -> None:
        """Hand every job to a fork that was made before the job came."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the jobs
        spare = self._fork_spare(checks)
        while True:
            try:
                start, (descriptor,) = self._link.receive_with_descriptors(StartJob, 1, None)
            except ConnectionLost:
                return
            try:
                spare.send_with_descriptors(start, [descriptor])
            except ConnectionLost:  # it died while it waited; its successor is new
                spare.close()
                spare = self._fork_spare(checks)
                spare.send_with_descriptors(start, [descriptor])
            spare.close()
            os.close(descriptor)
            spare = self._fork_spare(checks)

    def _fork_spare(self, checks: Checks) -> Connection:
        """A fork that waits for its one job; the connection to it."""
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            self._link.close()
            self._become_job(checks, Connection(theirs, MAX_ARGUMENT_BYTES))
        theirs.close()
        return Connection(ours, MAX_ARGUMENT_BYTES)

    def _become_job(self, checks: Checks, link: Connection) -> None:
        """Wait for a job in this forked process, judge it and end. Never returns."""
        status = 1
        try:
            os.setpgid(0, 0)  # whatever it starts ends with it
            _be_first_to_go()
            # What the checks write to is copied now rather than while they run.
            if not self._written.copy():
                self._rehearse(checks.one_of_each_kind())
            _, (descriptor,) = link.receive_with_descriptors(StartJob, 1, deadline=None)
            self._run_job(checks, descriptor)
            status = 0
        except ConnectionLost:
            status = 0  # the session is over
        except BaseException:  # noqa: BLE001  # the boundary of this process: it ends here
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(status)

    def _run_job(self, checks: Checks, descriptor: int) -> None:
        connection = Connection(socket.socket(fileno=descriptor), MAX_ARGUMENT_BYTES)
        connection.send(ChildStarted(os.getpid()))
        _, payload = connection.receive(StartJob)
        job: Job = decoder_of(Job).decode(payload)
        if job.rehearsal is not None:
            rehearsed = rehearse(checks, self.check_runner, job.rehearsal, job.seed)
            connection.send(ChildEvent(last=True), [encode(rehearsed)])
            return
        emit = EventSink(connection)
        own = self._pack.own_tests
        try:
            if job.tests and own is not None and self._disguises is not None:
                MutationGrading(self._pack, own, self._disguises, job, emit).run()
            else:
                Grading(checks, self.check_runner, job, emit).run()
        except RunnerUnavailable as lost:
            connection.send(ChildLostRunner(str(lost)))


def _be_first_to_go() -> None:
    """Should the box run out of memory, one job is lost and not what all jobs need."""
    with contextlib.suppress(OSError):  # where it cannot be said, the kernel takes the largest
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _collect_fault(error: BaseException, file: str, folder: Path) -> BrokenProblem:
    """Where an author's file broke while pytest imported it."""
    cause = error.__cause__ or error  # pytest wraps what an import raised
    where = author_line(cause, folder) or (file, 1)
    words = f"{type(cause).__name__}: {cause}"
    return BrokenProblem(*where, str(cause) if isinstance(cause, OutOfPatience) else words)
