"""`pytest problems/<slug>`: the checks of a problem as test items, judged in the sandbox.

The reference is judged, or the file named by `--submission`. A problem is judged once, when it is
collected, by the same code as `judge run`; its items then report what each check found. The
folder's own `test_*.py` files are never imported here: they run in the grader box.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from rich.console import Console

from judge.judging import Judge, JudgeFault
from judge.manifest import ProblemError
from judge.problem import Problem, load_problem
from judge.render import failing_check, safe, show
from judge.results import CheckResult, Result, TierResult
from judge.settings import BadSetting, load_settings
from judge.sources import UnreadableSources, read_sources
from judge.startup import choose_launcher, open_judge
from judge.verdicts import Verdict
from sandbox.boxes import SandboxError
from sandbox.choose import SandboxName

MANIFEST = "problem.toml"
REPORT_WIDTH = 100
FAULTS = (ProblemError, BadSetting, UnreadableSources, SandboxError, JudgeFault)


class NotAccepted(Exception):
    """A check did not accept the submission."""


class WarmJudge:
    """One judge for the whole pytest session, started when the first problem needs it."""

    def __init__(self, sandbox: SandboxName | None) -> None:
        self._sandbox = sandbox
        self._judge: Judge | None = None
        self._open = ExitStack()
        self.announcement = ""

    def get(self) -> Judge:
        """The judge; raises `BadSetting`, `SandboxError` or `JudgeFault` when there is none."""
        if self._judge is None:
            launcher = choose_launcher(load_settings(), self._sandbox, self._announce)
            self._judge = self._open.enter_context(open_judge(launcher))
        return self._judge

    def close(self) -> None:
        """End the boxes."""
        self._judge = None
        self._open.close()

    def _announce(self, words: str) -> None:
        self.announcement = words


_WARM_JUDGE = pytest.StashKey[WarmJudge]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("judge", "judging problem folders")
    group.addoption(
        "--submission", type=Path, metavar="FILE", help="judge FILE instead of the reference"
    )
    group.addoption("--sandbox", choices=["auto", "docker", "bwrap"], help="sandbox to judge in")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the judge where collectors find it."""
    config.stash[_WARM_JUDGE] = WarmJudge(config.getoption("--sandbox"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the boxes with the session."""
    config.stash[_WARM_JUDGE].close()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in which sandbox the problems were judged."""
    announcement = config.stash[_WARM_JUDGE].announcement
    if announcement:
        terminalreporter.write_line(f"judge: {announcement}")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take over folders that hold a problem."""
    if not (path / MANIFEST).is_file():
        return None
    folder: ProblemFolder = ProblemFolder.from_parent(parent, path=path)
    return folder


class ProblemFolder(pytest.Directory):
    """A problem folder; collecting it judges a submission."""

    def collect(self) -> Iterator[pytest.Collector]:
        """One collector for each tier of the result."""
        result = self._judge()
        for tier in result.tiers:
            yield TierChecks.from_parent(self, name=tier.id, tier=tier, result=result)

    def _judge(self) -> Result:
        try:
            problem = load_problem(self.path)
            files = self._sources(problem)
            return self.config.stash[_WARM_JUDGE].get().judge(problem, files)
        except FAULTS as error:
            raise self.CollectError(str(error)) from None

    def _sources(self, problem: Problem) -> dict[str, bytes]:
        chosen: Path | None = self.config.getoption("--submission")
        if chosen is None:
            return {problem.main_file: problem.reference}
        return read_sources(self.config.invocation_params.dir / chosen, problem)


class TierChecks(pytest.Collector):
    """A tier of a result."""

    def __init__(self, *, tier: TierResult, result: Result, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest passes on
        self._tier = tier
        self._result = result

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each check; one for the tier itself when it has none to show."""
        for check in self._tier.checks or [_stand_in(self._tier)]:
            yield JudgedCheck.from_parent(
                self, name=check.id, check=check, tier=self._tier, result=self._result
            )


class JudgedCheck(pytest.Item):
    """A check whose verdict is already known."""

    def __init__(
        self, *, check: CheckResult, tier: TierResult, result: Result, **rest: object
    ) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest passes on
        self._check = check
        self._tier = tier
        self._result = result

    def runtest(self) -> None:
        """Pass, skip or raise `NotAccepted`, as the verdict says."""
        if self._check.verdict is Verdict.SK:
            pytest.skip(self._check.message or "not run")
        if self._check.verdict is not Verdict.AC:
            raise NotAccepted(self._check.message)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """What `judge run` shows of a failing check, instead of a traceback."""
        del excinfo, style
        text = io.StringIO()
        screen = Console(file=text, width=REPORT_WIDTH, markup=False, highlight=False)
        for part in failing_check(self._tier, self._check, self._result.diagnosis):
            show(screen, part)
        return f"{text.getvalue()}  seed {self._result.seed}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item is from, and its sentence."""
        return self.path, None, f"{self._tier.id} {safe(self._check.title)}"


def _stand_in(tier: TierResult) -> CheckResult:
    verdict = tier.verdict or Verdict.SK
    return CheckResult(
        id="tier", title=tier.title, kind="tier", why="", verdict=verdict, message=verdict.words
    )
