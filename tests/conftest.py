"""Fixtures for all tests, and what happens to tests that cannot run here.

Docker and a browser may be missing on a developer's machine; tests that need them are then
skipped, and counted at the end. JUDGE_REQUIRE=docker,browser names what must be there: with it, a
skip for want of one of these is a failure, and so is a skip for any other reason.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest

from judge.judging import Judge
from judge.settings import Settings
from judge.startup import choose_launcher
from sandbox.boxes import Launcher, SandboxError
from tests.hostile.exercise import SECRET, SECRET_VARIABLE
from tests.sharing import pytest_xdist_make_scheduler

__all__ = ["pytest_xdist_make_scheduler"]  # a hook, too

OPTIONAL = frozenset({"docker", "browser"})
REQUIRED = frozenset(name for name in os.environ.get("JUDGE_REQUIRE", "").split(",") if name)


@pytest.fixture(scope="session", params=["docker", "bwrap"])
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    """Makes boxes; a test that uses it runs once in each sandbox."""
    name = request.param
    try:
        made = choose_launcher(Settings(), name, lambda _words: None)
    except SandboxError as error:
        pytest.skip(f"needs {name}: {error}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def warm_judge(launcher: Launcher) -> Iterator[Judge]:
    """A judge whose boxes are warm, shared by all tests of one sandbox.

    Our environment has a secret when they start, which no submission may find in them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        judge = Judge.start(launcher)
    with judge:
        yield judge


@pytest.fixture
def lent_boxes(launcher: Launcher, warm_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that this process runs in the sandbox of the warm boxes judges in those.

    Everything else of it is as ever: it chooses its sandbox, and where that is the other one, it
    starts boxes of its own. What starts and ends its own boxes is a command in its own process.
    """
    start = Judge.start

    def lend(
        chosen: Launcher, slots: int = 1, *, spare: bool = False
    ) -> AbstractContextManager[Judge]:
        if chosen.name == launcher.name:
            return nullcontext(warm_judge)
        return start(chosen, slots, spare=spare)

    monkeypatch.setattr(Judge, "start", lend)


# --- skips --------------------------------------------------------------------------------------


def missing_capability(reason: str) -> str:
    """What a skipped test would have needed: "docker" in "needs docker: no engine answers"."""
    match = re.match(r"(?:Skipped: )?needs (\w+):", reason)
    return match[1] if match else ""


def may_skip(reason: str, required: frozenset[str]) -> bool:
    """Whether a test may be skipped for this reason when `required` must be there."""
    return not required or missing_capability(reason) in OPTIONAL - required


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = _skip_reason(report)
    if reason is not None and not may_skip(reason, REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"JUDGE_REQUIRE={','.join(sorted(REQUIRED))}, but: {reason}"


def _skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return None
    return str(report.longrepr[2])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(_skip_reason(report) for report in terminalreporter.getreports("skipped"))
    if reasons:
        terminalreporter.section("NOT TESTED HERE", yellow=True, bold=True)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} tests skipped: {reason}", yellow=True)
