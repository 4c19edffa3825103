"""`judge doctor`: what is in force on this machine, what is missing and how to get it."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from judge.charts import ChartsUnavailable, load_renderer
from judge.manifest import ProblemError
from judge.needs import needs_faults
from judge.problem import Problem, list_slugs, load_problem
from judge.render import safe
from judge.settings import Settings
from judge.slots import START_PATIENCE_S, runner_spec
from sandbox.boxes import Launcher, SandboxError
from sandbox.choose import SandboxName, choose
from sandbox.protocol import ChannelError
from sandbox.survey import Finding, State, survey

SYMBOLS = {State.OK: ("✓", "green"), State.DEGRADED: ("!", "yellow"), State.MISSING: ("✗", "red")}
KINDS: tuple[SandboxName, ...] = ("docker", "bwrap")
MODES = {
    True: "each submission has namespaces of its own",
    False: "each submission has a box of its own",
}


@dataclass(frozen=True)
class ProblemFinding(Finding):
    """About one problem, or about there being none."""


@dataclass(frozen=True)
class BoxFinding(Finding):
    """Whether a box of `sandbox` starts and holds."""

    sandbox: SandboxName = field(kw_only=True)


def diagnose(settings: Settings) -> Iterator[Finding]:
    """Everything that matters for judging here, tried where it can be tried."""
    yield Finding("python", State.OK, platform.python_version())
    yield _chart_renderer()
    yield from _problems(settings)
    sandbox = settings.for_sandbox()
    yield from survey(sandbox.builder, sandbox.bwrap)
    for name in KINDS:
        yield from _box(settings, name)


def healthy(findings: Sequence[Finding], chosen: SandboxName) -> bool:
    """Whether submissions can be judged in the `chosen` sandbox, and all problems are valid."""
    boxes = [
        finding
        for finding in findings
        if isinstance(finding, BoxFinding) and chosen in ("auto", finding.sandbox)
    ]
    problems = [finding for finding in findings if isinstance(finding, ProblemFinding)]
    return any(map(_usable, boxes)) and all(map(_usable, problems))


def _usable(finding: Finding) -> bool:
    return finding.state is not State.MISSING


def health_report(findings: Sequence[Finding]) -> RenderableType:
    """The findings as a table: symbol, name, what was found and, where needed, what to do."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in findings:
        symbol, style = SYMBOLS[finding.state]
        words = Text(safe(finding.detail))
        if finding.remedy:
            words.append(f"\n{safe(finding.remedy)}", "bright_black")
        grid.add_row(Text(symbol, style), Text(safe(finding.name), "bold"), words)
    return grid


def _chart_renderer() -> Finding:
    try:
        load_renderer()
    except ChartsUnavailable as error:
        return Finding("charts", State.MISSING, "cannot be drawn outside a browser", str(error))
    return Finding("charts", State.OK, "drawn as SVG and PNG")


def _problems(settings: Settings) -> Iterator[Finding]:
    slugs = list_slugs(settings.problems)
    if not slugs:
        yield ProblemFinding(
            "problems", State.MISSING, f"none in {settings.problems}",
            "Set JUDGE_PROBLEMS to the folder that holds them.",
        )  # fmt: skip
    read = {slug: _read(settings, slug) for slug in slugs}
    good = {slug: each for slug, each in read.items() if isinstance(each, Problem)}
    misplaced = needs_faults(good, slugs)
    for slug, each in read.items():
        found = ProblemError(misplaced[slug]) if slug in misplaced else each
        yield _problem(slug, found)


def _read(settings: Settings, slug: str) -> Problem | ProblemError:
    try:
        return load_problem(settings.problems / slug)
    except ProblemError as error:
        return error


def _problem(slug: str, found: Problem | ProblemError) -> ProblemFinding:
    if isinstance(found, ProblemError):
        return ProblemFinding(f"problem {slug}", State.MISSING, str(found))
    return ProblemFinding(f"problem {slug}", State.OK, f"valid, version {found.version[:12]}")


def _box(settings: Settings, name: SandboxName) -> Iterator[Finding]:
    """A runner box of this sandbox, started to see its mode and whether each defence holds."""
    label = f"{name} box"
    try:
        choice = choose(name, replace(settings.for_sandbox(), build=False), lambda _step: None)
    except SandboxError as error:
        yield BoxFinding(label, State.MISSING, error.problem, error.remedy, sandbox=name)
        return
    try:
        yield from _findings_inside(choice.launcher, name)
    except SandboxError as error:
        yield BoxFinding(label, State.MISSING, error.problem, error.remedy, sandbox=name)
    finally:
        choice.launcher.close()


def _findings_inside(launcher: Launcher, name: SandboxName) -> Iterator[Finding]:
    label = f"{name} box"
    with launcher.shared_dir() as shared:
        box = launcher.launch(runner_spec(), shared)
        try:
            ready = box.wait_ready(time.monotonic() + START_PATIENCE_S)
            mode = box.environment.sandbox
        except ChannelError as error:
            words = f"does not start: {error}\n{box.diagnostics()}".rstrip()
            yield BoxFinding(label, State.MISSING, words, sandbox=name)
            return
        finally:
            box.kill()
    for probe in ready.probes:
        if not probe.held:
            yield Finding(f"{label}: {probe.name}", State.MISSING, probe.detail)
    held = sum(probe.held for probe in ready.probes)
    detail = f"{mode}: {ready.reason or MODES[ready.nested]}; {held} of {len(ready.probes)} hold"
    state = State.OK if ready.nested else State.DEGRADED
    state = state if held == len(ready.probes) else State.MISSING
    yield BoxFinding(label, state, detail, sandbox=name)
