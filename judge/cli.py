"""The command line: `judge run`, `judge doctor`, `judge sandbox build`, and `judge.commands`.

Exit status: 0 accepted, 1 not accepted, 2 usage, 3 the judge or a problem is at fault; after a
signal 128 and its number, 130 for Ctrl-C.
"""

from __future__ import annotations

import codecs
import io
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from judge.charts import (
    ChartsUnavailable,
    UndrawableChart,
    file_stem,
    load_renderer,
    prepare_folder,
    write_charts,
)
from judge.commands import bench, course
from judge.commands.dev import dev
from judge.commands.gradescope import GradescopeFile, keep_for_gradescope
from judge.commands.new import new
from judge.commands.package import export, import_package
from judge.commands.serve import serve, work
from judge.commands.submit import submit
from judge.commands.terminal import (
    SandboxChoice,
    Status,
    announce,
    console,
    fail,
    print_json,
    progress_on,
    tell_left_out,
)
from judge.commands.verify import verify
from judge.doctor import diagnose, health_report, healthy
from judge.gradescope import gradescope_results, unreadable_results
from judge.judging import Judge, JudgeFault
from judge.manifest import ProblemError
from judge.problem import Problem, UnknownProblem, find_folder, load_problem
from judge.progress import Progress
from judge.render import note, report, safe, show
from judge.results import Result
from judge.settings import BASES, BadSetting, load_settings
from judge.sources import UnreadableSources, read_all_sources
from judge.startup import choose_launcher, open_judge
from sandbox.boxes import SandboxError

MAX_SEED = (1 << 63) - 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_ALIKES = {"✓": "+", "✗": "x", "–": "-", "·": "-", "…": "~"}  # noqa: RUF001 - as in `SYMBOLS`
SIGNALLED = 128  # added to a signal's number, as shells do


class BaseChoice(StrEnum):
    """What `judge sandbox build --base` takes."""

    PYTHON = "python"
    DEBIAN = "debian"


app = typer.Typer(
    help="Judge machine-learning exercises in a sandbox.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
sandbox_app = typer.Typer(help="Manage the sandbox.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(sandbox_app, name="sandbox")
app.command()(serve)
app.command()(work)
app.command()(new)
app.command()(dev)
app.command()(submit)
app.command()(verify)
app.command()(export)
app.command("import")(import_package)
app.command()(course.start)
app.command("tests")(course.course_tests)
app.command()(course.check)
app.command()(course.mutate)
app.command()(course.diff)
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"judge {version('judge')}")
        except PackageNotFoundError:
            typer.echo("judge (not installed, running from its folder)")
        raise typer.Exit


@app.callback()
def judge(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Judge machine-learning exercises in a sandbox."""


# --- judge run ----------------------------------------------------------------------------------


@app.command()
def run(
    slug: Annotated[str, typer.Argument(help="The problem, e.g. multi-head-attention.")],
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Submissions: each a file, or a folder for several files.",
            readable=False,  # not asked by click: we say it ourselves, for all paths at once
        ),
    ],
    json: Annotated[
        bool, typer.Option("--json", help="Print one result per line, as JSON, in order.")
    ] = False,
    sandbox: Annotated[
        SandboxChoice | None,
        typer.Option(
            help="Sandbox to use; auto takes Docker when it can be had.", show_default="auto"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MAX_SEED, help="Judge with this seed: replays an earlier verdict."),
    ] = None,
    charts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the charts here, as SVG and PNG.", readable=False),
    ] = None,
    gradescope: GradescopeFile = None,
) -> None:
    """Judge one or more submissions of a problem. No server is needed.

    Nothing is judged unless all of them can be read, so the results are as many as the paths.
    """
    settings = load_settings()
    problem = load_problem(find_folder(settings.problems, slug))
    if charts is not None:
        load_renderer()
    submissions = _read(paths, problem, gradescope)
    if charts is not None:
        prepare_folder(charts)
    for path in paths:
        tell_left_out(path)
    session = Session(problem, seed=seed, json=json, charts=charts, gradescope=gradescope)
    launcher = choose_launcher(settings, sandbox.value if sandbox else None, announce)
    with ExitStack() as stack:
        with session.progress.starting():
            warm = stack.enter_context(open_judge(launcher))
        for number, (path, files) in enumerate(zip(paths, submissions, strict=True), start=1):
            session.judge_one(warm, path, files, number)
    raise typer.Exit(session.status)


def _read(
    paths: Sequence[Path], problem: Problem, gradescope: Path | None
) -> list[dict[str, bytes]]:
    """The files of all submissions; Gradescope is told what is missing from a student's folder."""
    if gradescope is not None and len(paths) != 1:
        fail("--gradescope takes one submission: its file holds one result.", Status.USAGE)
    try:
        return read_all_sources(paths, problem)
    except UnreadableSources as error:
        if gradescope is not None and paths[0].is_dir():
            keep_for_gradescope(unreadable_results(str(error)), gradescope)
        raise


@dataclass
class Session:
    """One `judge run`: what it was asked, and the gravest status so far."""

    problem: Problem
    seed: int | None
    json: bool
    charts: Path | None
    gradescope: Path | None = None
    status: Status = Status.ACCEPTED
    out: Console = field(default_factory=lambda: console(stderr=False))
    err: Console = field(default_factory=lambda: console(stderr=True))

    @property
    def progress(self) -> Progress:
        """Where the user follows what happens."""
        return progress_on(self.err, json=self.json)

    def judge_one(self, judge: Judge, path: Path, files: dict[str, bytes], number: int) -> None:
        """Judge one submission, the `number`-th from 1, and print its result."""
        with self.progress.following(self.problem, str(path)) as listener:
            result = judge.judge(self.problem, files, seed=self.seed, on_event=listener)
        if self.gradescope:
            keep_for_gradescope(gradescope_results(result), self.gradescope)
        self._print(result, path)
        if self.charts:
            self._write_charts(result, self.charts, f"{number}-{path.stem}")
        if not self.json:
            self.out.print()
        self._raise_status(Status.of(result.outcome))

    def _print(self, result: Result, path: Path) -> None:
        if self.json:
            print_json(result)
            return
        show(self.out, report(result, str(path)))
        replay = f"judge run {self.problem.slug} {shlex.quote(str(path))} --seed {result.seed}"
        show(self.out, note("replay", [replay]), soft_wrap=True)

    def _write_charts(self, result: Result, folder: Path, prefix: str) -> None:
        try:
            written = write_charts(result.charts, folder, file_stem(prefix))
        except UndrawableChart as error:
            self._complain(f"{self.problem.slug}: {error}", Status.JUDGE_FAILURE)
        except OSError as error:
            self._complain(f"charts cannot be written to {folder}: {error.strerror}", Status.USAGE)
        else:
            if written and not self.json:
                show(self.out, note("charts", [str(path) for path in written]), soft_wrap=True)

    def _complain(self, words: str, status: Status) -> None:
        self.err.print(Text(safe(f"judge: {words}")), soft_wrap=True)
        self._raise_status(status)

    def _raise_status(self, status: Status) -> None:
        self.status = max(self.status, status)


# --- other commands -----------------------------------------------------------------------------


@app.command()
def doctor() -> None:
    """Say what is in force, what is missing and how to get it."""
    settings = load_settings()
    findings = list(diagnose(settings))
    show(console(stderr=False), health_report(findings))
    well = healthy(findings, settings.sandbox)
    raise typer.Exit(Status.ACCEPTED if well else Status.JUDGE_FAILURE)


@sandbox_app.command()
def build(
    base: Annotated[
        BaseChoice | None,
        typer.Option(
            help="python: the official image. debian: made here with debootstrap, no registry.",
            show_default="python, else debian",
        ),
    ] = None,
) -> None:
    """Build the image that Docker boxes are made from, unless it is there already."""
    settings = load_settings()
    chosen = BASES[base.value if base else settings.base]
    image = settings.for_sandbox().builder.ensure(chosen, announce)
    typer.echo(f"{image.tag} {image.digest}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; faults become lines on stderr and an exit status."""
    _allow_any_encoding()
    try:
        with _stoppable():
            app(arguments)
    except (UnknownProblem, ChartsUnavailable, BadSetting, UnreadableSources) as error:
        _fail(str(error), Status.USAGE)
    except (ProblemError, SandboxError, JudgeFault) as error:
        _fail(str(error), Status.JUDGE_FAILURE)
    except Stopped as stopped:
        _fail(f"stopped by {stopped.signal.name}", SIGNALLED + stopped.signal)


def _allow_any_encoding() -> None:
    """Write a look-alike of what the terminal's encoding does not have, instead of failing."""
    codecs.register_error("look-alike", _look_alike)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="look-alike")


def _look_alike(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(LOOK_ALIKES.get(each, "?") for each in missing), error.end


def _fail(words: str, status: int) -> None:
    announce(words)
    sys.exit(status)


class Stopped(BaseException):
    """A signal asked us to end: the boxes are removed on the way out, as after any exception."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn the signals that ask us to end into `Stopped`, but for those we are to ignore."""
    heeded = [each for each in STOP_SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, _stop) for each in heeded}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)
