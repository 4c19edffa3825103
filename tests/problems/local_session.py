"""The checks of a problem folder, collected once and run on sources in this process."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
import torch

from judge.checks import Charts, CheckInfo, Judging, LocalSubmission, Submission, describe
from judge.grader.grading import CheckRunner
from judge.problem import load_problem
from sandbox.protocol import Setting

Answer = TypeVar("Answer")
PATIENCE_S = 10.0


@dataclass
class LocalSession:
    """A collected session, run by the grader's own check runner."""

    session: pytest.Session
    setting: Setting
    runner: CheckRunner

    @property
    def checks(self) -> list[CheckInfo]:
        return [describe(item) for item in self.session.items]

    def failures(self, source: bytes, seed: int, charts: Charts | None = None) -> dict[str, str]:
        """Messages of the failing checks by id, in order."""
        submission = LocalSubmission.from_sources({self.setting.main: source}, self.setting)
        return self.failures_of(submission, seed, charts)

    def failures_of(
        self, submission: Submission, seed: int, charts: Charts | None = None
    ) -> dict[str, str]:
        """The same for anything that can be judged."""
        judging = Judging(submission, seed, charts or Charts())
        failed = {}
        for item in self.session.items:
            error = self.runner.run(item, judging, PATIENCE_S).error
            if error is not None:
                failed[describe(item).id] = str(error)
        return failed


def failing_tiers(failures: dict[str, str]) -> list[str]:
    """Tiers with a failing check, in order: "T0" for ``test_t0_interface::...``."""
    return sorted({name.split("_")[1].upper() for name in failures})


def in_session(folder: Path, work: Callable[[LocalSession], Answer]) -> Answer:
    """What `work` returns when it is given the collected checks of `folder`."""
    runner = CheckRunner()
    plugin = _Plugin(folder, work, runner)
    arguments = ["-p", "judge.checks.fixtures", "-p", "no:cacheprovider", "-p", "no:terminal"]
    arguments += ["-p", "no:judge", "-c", os.devnull, "--rootdir", str(folder)]
    with _as_in_a_box(), _own_modules(folder):
        pytest.main([*arguments, str(folder / "checks")], plugins=[plugin, runner])
    assert plugin.answers, "the checks could not be collected"
    return plugin.answers[0]  # type: ignore[no-any-return]


class _Plugin:
    def __init__(
        self, folder: Path, work: Callable[[LocalSession], object], runner: CheckRunner
    ) -> None:
        self._folder = folder
        self._work = work
        self._runner = runner
        self.answers: list = []  # type: ignore[type-arg]  # the caller knows what `work` returns

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        assert not report.failed, f"{report.nodeid} cannot be collected: {report.longreprtext}"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        setting = load_problem(self._folder).setting
        self.answers.append(self._work(LocalSession(session, setting, self._runner)))
        return True


@contextmanager
def _as_in_a_box() -> Generator[None]:
    """One thread, as the boxes have: more of them only wait for each other on small arrays.

    And a warning is no error, whatever it is to the tests that want to know.
    """
    before = torch.get_num_threads(), sys.dont_write_bytecode
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(before[0])
        sys.dont_write_bytecode = before[1]


@contextmanager
def _own_modules(folder: Path) -> Generator[None]:
    """Forget the modules of this folder afterwards: the next one has files of the same names."""
    path_before = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path_before
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
                del sys.modules[name]
