"""The command line: `judge run`, `judge doctor`, `judge sandbox build`.

Exit status: 0 accepted, 1 not accepted, 2 usage, 3 the judge or a problem is at fault.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from judge.charts import ChartsUnavailable, UndrawableChart, file_stem, load_renderer, write_charts
from judge.doctor import diagnose, health_report, healthy
from judge.judging import Judge, JudgeFault
from judge.manifest import ProblemError
from judge.problem import Problem, UnknownProblem, find_folder, load_problem
from judge.progress import LineProgress, LiveProgress, Progress, SilentProgress
from judge.render import note, report, safe
from judge.results import Result
from judge.settings import BASES, Settings
from judge.sources import UnreadableSources, read_sources
from judge.startup import choose_launcher, open_judge
from judge.verdicts import Verdict
from sandbox.boxes import SandboxError

MAX_SEED = (1 << 63) - 1
PIPE_WIDTH = 120


class Status(IntEnum):
    """Exit statuses; of several submissions the gravest counts, in this order."""

    ACCEPTED = 0
    NOT_ACCEPTED = 1
    USAGE = 2
    JUDGE_FAILURE = 3


class SandboxChoice(StrEnum):
    """What `--sandbox` takes."""

    AUTO = "auto"
    DOCKER = "docker"
    BWRAP = "bwrap"


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
        typer.Argument(help="Submissions: each a file, or a folder for several files."),
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
        Path | None, typer.Option(metavar="DIR", help="Write the charts here, as SVG and PNG.")
    ] = None,
) -> None:
    """Judge one or more submissions of a problem. No server is needed."""
    settings = Settings()
    problem = load_problem(find_folder(settings.problems, slug))
    if charts is not None:
        load_renderer()
    session = Session(problem, seed=seed, json=json, charts=charts)
    readable = session.read(paths)
    if readable:
        launcher = choose_launcher(settings, sandbox.value if sandbox else None, _announce)
        with ExitStack() as stack:
            with session.progress.starting():
                warm = stack.enter_context(open_judge(launcher))
            for index, (path, files) in readable.items():
                session.judge_one(warm, path, files, index)
    raise typer.Exit(session.status)


@dataclass
class Session:
    """One `judge run`: what it was asked, and the gravest status so far."""

    problem: Problem
    seed: int | None
    json: bool
    charts: Path | None
    status: Status = Status.ACCEPTED
    out: Console = field(default_factory=lambda: _console(stderr=False))
    err: Console = field(default_factory=lambda: _console(stderr=True))

    @property
    def progress(self) -> Progress:
        """Live on a terminal, lines in a pipe, nothing beside JSON in a pipe."""
        if self.err.is_terminal:
            return LiveProgress(self.err)
        return SilentProgress() if self.json else LineProgress(self.err)

    def read(self, paths: Sequence[Path]) -> dict[int, tuple[Path, dict[str, bytes]]]:
        """The submissions that can be read, by position; the others are named on stderr."""
        readable = {}
        for index, path in enumerate(paths):
            try:
                readable[index] = (path, read_sources(path, self.problem))
            except UnreadableSources as error:
                self._complain(str(error), Status.USAGE)
        return readable

    def judge_one(self, judge: Judge, path: Path, files: dict[str, bytes], index: int) -> None:
        """Judge one submission and print its result."""
        try:
            with self.progress.following(self.problem, str(path)) as listener:
                result = judge.judge(self.problem, files, seed=self.seed, on_event=listener)
        except JudgeFault as error:
            self._complain(f"{path}: {error}", Status.JUDGE_FAILURE)
            return
        self._print(result, path)
        if self.charts:
            self._write_charts(result, self.charts, f"{index + 1}-{path.stem}")
        if not self.json:
            self.out.print()
        self._raise_status(_STATUSES.get(result.verdict, Status.NOT_ACCEPTED))

    def _print(self, result: Result, path: Path) -> None:
        if self.json:
            sys.stdout.write(result.model_dump_json() + "\n")
            sys.stdout.flush()
            return
        self.out.print(report(result, str(path)))
        replay = f"judge run {self.problem.slug} {shlex.quote(str(path))} --seed {result.seed}"
        self.out.print(note("replay", [replay]), soft_wrap=True)

    def _write_charts(self, result: Result, folder: Path, prefix: str) -> None:
        try:
            written = write_charts(result.charts, folder, file_stem(prefix))
        except UndrawableChart as error:
            self._complain(f"{self.problem.slug}: {error}", Status.JUDGE_FAILURE)
        except OSError as error:
            self._complain(f"charts cannot be written to {folder}: {error.strerror}", Status.USAGE)
        else:
            if written and not self.json:
                self.out.print(note("charts", [str(path) for path in written]), soft_wrap=True)

    def _complain(self, words: str, status: Status) -> None:
        self.err.print(Text(safe(f"judge: {words}")), soft_wrap=True)
        self._raise_status(status)

    def _raise_status(self, status: Status) -> None:
        self.status = max(self.status, status)


_STATUSES = {Verdict.AC: Status.ACCEPTED, Verdict.JE: Status.JUDGE_FAILURE}


def _announce(words: str) -> None:
    typer.echo(f"judge: {words}", err=True)


# --- other commands -----------------------------------------------------------------------------


@app.command()
def doctor() -> None:
    """Say what is in force, what is missing and how to get it."""
    findings = list(diagnose(Settings()))
    _console(stderr=False).print(health_report(findings))
    raise typer.Exit(Status.ACCEPTED if healthy(findings) else Status.JUDGE_FAILURE)


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
    settings = Settings()
    chosen = BASES[base.value if base else settings.base]
    image = settings.for_sandbox().builder.ensure(chosen, _announce)
    typer.echo(f"{image.tag} {image.digest}")


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; faults become a line on stderr and an exit status."""
    try:
        app(arguments)
    except (UnknownProblem, ChartsUnavailable) as error:
        _fail(str(error), Status.USAGE)
    except (ProblemError, SandboxError, JudgeFault) as error:
        _fail(str(error), Status.JUDGE_FAILURE)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output left; there is nobody to tell
        sys.exit(Status.NOT_ACCEPTED)


def _fail(words: str, status: Status) -> None:
    typer.echo(f"judge: {safe(words)}", err=True)
    sys.exit(status)
