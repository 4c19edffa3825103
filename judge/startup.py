"""From a setting to a warm judge: choose the sandbox, say which and why, start the boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judge.judging import Judge
from judge.settings import Settings
from sandbox.boxes import Launcher
from sandbox.choose import SandboxName, choose


def choose_launcher(
    settings: Settings, name: SandboxName | None, announce: Callable[[str], None]
) -> Launcher:
    """The launcher called `name`, or the setting's; `announce` is told which, and why.

    May take minutes when an image has to be built; `announce` is told of the steps, too. Raises
    `SandboxError` when it cannot be had.
    """
    choice = choose(name or settings.sandbox, settings.for_sandbox(), announce)
    announce(f"sandbox {choice.launcher.name}: {choice.why}")
    return choice.launcher


@contextmanager
def open_judge(launcher: Launcher, slots: int = 1) -> Iterator[Judge]:
    """A warm judge; the launcher is closed with it. Raises `SandboxError` or `JudgeFault`."""
    try:
        with Judge.start(launcher, slots) as judge:
            yield judge
    finally:
        launcher.close()
