"""The checks of a problem folder, collected once and run on sources in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import pytest
import torch
from _pytest.runner import runtestprotocol

from judge.checks import CURRENT, Charts, CheckInfo, Judging, LocalSubmission, describe

Answer = TypeVar("Answer")
MAIN = "solution.py"


@dataclass
class LocalSession:
    """A collected session. `outcomes` holds what the checks of the latest run raised, by id."""

    session: pytest.Session
    provided: bytes
    outcomes: dict[str, BaseException] = field(default_factory=dict)

    @property
    def checks(self) -> list[CheckInfo]:
        return [describe(item) for item in self.session.items]

    def failures(self, source: bytes, seed: int, charts: Charts | None = None) -> dict[str, str]:
        """Messages of the failing checks by id, in order."""
        submission = LocalSubmission.from_sources({MAIN: source}, MAIN, self.provided)
        judging = Judging(submission, seed, charts or Charts())
        self.session.config.stash[CURRENT] = judging
        self.outcomes.clear()
        for item in self.session.items:
            runtestprotocol(item, log=False, nextitem=None)
        return {name: str(error) for name, error in self.outcomes.items()}


def failing_tiers(failures: dict[str, str]) -> list[str]:
    """Tiers with a failing check, in order: "T0" for ``test_t0_interface::...``."""
    return sorted({name.split("_")[1].upper() for name in failures})


def in_session(folder: Path, work: Callable[[LocalSession], Answer]) -> Answer:
    """What `work` returns when it is given the collected checks of `folder`."""
    plugin = _Plugin(folder, work)
    arguments = ["-p", "judge.checks.fixtures", "-p", "no:cacheprovider", "-p", "no:terminal"]
    arguments += ["-p", "no:judge", "-c", os.devnull, "--rootdir", str(folder)]
    with _as_in_a_box():
        pytest.main([*arguments, str(folder / "checks")], plugins=[plugin])
    assert plugin.answers, "the checks could not be collected"
    return plugin.answers[0]  # type: ignore[no-any-return]


class _Plugin:
    def __init__(self, folder: Path, work: Callable[[LocalSession], object]) -> None:
        self._folder = folder
        self._work = work
        self._local: LocalSession | None = None
        self.answers: list = []  # type: ignore[type-arg]  # the caller knows what `work` returns

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        provided = (self._folder / "provided.py").read_bytes()
        self._local = LocalSession(session, provided)
        self.answers.append(self._work(self._local))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """A report without pytest's long representation, which takes longer than the checks."""
        raised = call.excinfo is not None
        if call.excinfo is not None and self._local is not None:
            self._local.outcomes[describe(item).id] = call.excinfo.value
        outcome: Literal["failed", "passed"] = "failed" if raised else "passed"
        phase = call.when if call.when != "collect" else "setup"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, phase)


@contextmanager
def _as_in_a_box() -> Generator[None]:
    """One thread, as the boxes have: more of them only wait for each other on small arrays."""
    before = torch.get_num_threads(), sys.dont_write_bytecode
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        sys.dont_write_bytecode = before[1]
