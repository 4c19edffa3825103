"""`pytest problems/<slug>`: the checks of a problem, and its proof, as test items.

The reference is judged, or the file named by `--submission`. A problem is judged once, when it is
collected, by the same code as `judge run`; its items then report what each check found. The
folder's own `test_*.py` files are never imported here: they run in the grader box.

Where the reference is judged, the folder is also proven, by the same code as `judge verify`: an
item for each case, such as `double/proof/mutant::tripled`. Proving, too, happens when the items
are collected; `--no-proof` leaves it out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from rich.console import Console

from judge.judging import Judge, JudgeFault
from judge.manifest import ProblemError
from judge.problem import Problem, load_problem
from judge.proof.cache import CACHE_NAME, FileCache
from judge.proof.outcomes import Case, CaseKind, Proof
from judge.proof.prover import SEEDS, Prover
from judge.proof.reports.figures import name
from judge.render import failing_check, safe, show
from judge.results import CheckResult, Result, TierResult
from judge.settings import BadSetting, load_settings
from judge.sources import UnreadableSources, read_sources
from judge.startup import choose_launcher, open_judge
from judge.verdicts import Verdict
from sandbox.boxes import SandboxError
from sandbox.choose import SandboxName
from sandbox.text import one_line

MANIFEST = "problem.toml"
REPORT_WIDTH = 100
FAULTS = (ProblemError, BadSetting, UnreadableSources, SandboxError, JudgeFault)


class NotAccepted(Exception):
    """A check did not accept the submission."""


class NotProven(Exception):
    """A case of a proof does not hold."""


class Prove(Protocol):
    """Proves a folder on so many seeds; raises `JudgeFault`."""

    def __call__(self, judge: Judge, problem: Problem, seeds: int) -> Proof:
        """The proof."""


def prove_like_verify(judge: Judge, problem: Problem, seeds: int) -> Proof:
    """The proof that `judge verify --sandbox ...` gives: one sandbox, and the same cache."""
    settings = load_settings()
    with FileCache(settings.cache / CACHE_NAME) as cache:
        prover = Prover(judge, threads=settings.processors, seeds=seeds, cache=cache)
        return prover.prove(problem)


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
            settings = load_settings()
            launcher = choose_launcher(settings, self._sandbox, self._announce)
            judging = open_judge(launcher, settings.processors)
            self._judge = self._open.enter_context(judging)
        return self._judge

    def close(self) -> None:
        """End the boxes."""
        self._judge = None
        self._open.close()

    def _announce(self, words: str) -> None:
        self.announcement = words


_WARM_JUDGE = pytest.StashKey[WarmJudge]()
PROVE = pytest.StashKey[Prove]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("judge", "judging problem folders")
    group.addoption(
        "--submission", type=Path, metavar="FILE", help="judge FILE instead of the reference"
    )
    group.addoption("--sandbox", choices=["auto", "docker", "bwrap"], help="sandbox to judge in")
    group.addoption(
        "--no-proof", action="store_true", help="judge the reference, but do not prove the folder"
    )
    group.addoption(
        "--seeds", type=_seeds, default=SEEDS, metavar="N",
        help=f"seeds that the reference is proven on (default: {SEEDS})",
    )  # fmt: skip


def _seeds(text: str) -> int:
    """A number of seeds; `ValueError` becomes an error of usage."""
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def pytest_configure(config: pytest.Config) -> None:
    """Keep the judge, and what proves, where collectors find them."""
    config.stash[_WARM_JUDGE] = WarmJudge(config.getoption("--sandbox"))
    config.stash[PROVE] = prove_like_verify


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
        """One collector for each tier of the result, and one for the proof of the folder."""
        problem, result = self._judged()
        for tier in result.tiers:
            yield TierChecks.from_parent(self, name=tier.id, tier=tier, result=result)
        options = self.config.option
        if options.submission is None and not options.no_proof:
            yield ProofOfFolder.from_parent(
                self, name="proof", nodeid=f"{self.nodeid}/proof", problem=problem
            )

    def _judged(self) -> tuple[Problem, Result]:
        try:
            problem = load_problem(self.path)
            files = self._sources(problem)
            return problem, self.config.stash[_WARM_JUDGE].get().judge(problem, files)
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
            if self._tier.advisory and self._check.verdict is not Verdict.JE:
                pytest.skip(f"advisory: {self._check.message}")  # no reason to reject it
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


# --- the proof of the folder ----------------------------------------------------------------------


class ProofOfFolder(pytest.Collector):
    """The proof of a problem; collecting it proves the folder."""

    def __init__(self, *, problem: Problem, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest passes on
        self._problem = problem

    def collect(self) -> Iterator[pytest.Collector]:
        """One collector for each kind of case."""
        stash, seeds = self.config.stash, self.config.getoption("--seeds")
        try:
            proof = stash[PROVE](stash[_WARM_JUDGE].get(), self._problem, seeds)
        except FAULTS as error:
            raise self.CollectError(str(error)) from None
        for kind in CaseKind:
            cases = [case for case in proof.cases if case.kind is kind]
            if cases:
                yield KindOfCases.from_parent(
                    self, name=kind.value, nodeid=f"{self.nodeid}/{kind.value}", cases=cases
                )


class KindOfCases(pytest.Collector):
    """The cases of one kind."""

    def __init__(self, *, cases: Sequence[Case], **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest passes on
        self._cases = cases

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each."""
        for case in self._cases:
            yield ProvenCase.from_parent(self, name=one_line(case.id), case=case)


class ProvenCase(pytest.Item):
    """A case whose outcome is already known."""

    def __init__(self, *, case: Case, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest passes on
        self._case = case

    def runtest(self) -> None:
        """Pass, skip or raise `NotProven`; advice is reported beside what passes."""
        if self._case.skipped:
            pytest.skip(one_line(self._case.skipped))
        if self._case.failed:
            raise NotProven(safe(self._case.findings[0].message))
        for advice in self._case.findings:
            self.add_report_section("call", "advice", safe(str(advice)))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """Each finding with file, line and what to do, instead of a traceback."""
        del excinfo, style
        return "\n".join([name(self._case), *(safe(str(each)) for each in self._case.findings)])

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the item is from, and what it claims."""
        return self.path, None, name(self._case)
