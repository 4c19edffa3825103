"""`judge verify`: prove exercises, and say what does not hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from judge.commands.terminal import SandboxChoice, Status, announce, console, fail, print_json
from judge.judging import Judge, JudgeFault
from judge.manifest import ProblemError
from judge.problem import Problem, find_folder, list_slugs, load_problem
from judge.proof.cache import CACHE_NAME, FileCache
from judge.proof.generated import MutationUnavailable
from judge.proof.outcomes import Proof
from judge.proof.prover import SEEDS, Elsewhere, OnProgress, Prover, invalid_folder
from judge.proof.reports import github, html, junit, terminal
from judge.render import show
from judge.settings import Settings, load_settings
from judge.startup import choose_launcher, open_judge
from sandbox.boxes import Launcher, SandboxError
from sandbox.choose import SandboxName

MAX_SEEDS = 10_000
OTHER: dict[str, SandboxName] = {"docker": "bwrap", "bwrap": "docker"}


def verify(
    slugs: Annotated[
        list[str] | None, typer.Argument(help="Exercises to prove; all of them without any.")
    ] = None,
    junit_file: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write the cases here, as JUnit's XML."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=MAX_SEEDS, help="Seeds that the reference is judged with.")
    ] = SEEDS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Judge everything anew, whatever was proven before.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one proof per line, as JSON, in order.")
    ] = False,
    html_folder: Annotated[
        Path | None,
        typer.Option("--html", metavar="DIR", help="Write a page for each exercise here."),
    ] = None,
    annotate: Annotated[
        bool | None,
        typer.Option(
            "--github/--no-github",
            help="Print findings as GitHub annotations, and write a summary of the step.",
            show_default="on in a workflow",
        ),
    ] = None,
    sandbox: Annotated[
        SandboxChoice | None,
        typer.Option(help="Prove in this sandbox alone.", show_default="both that can be had"),
    ] = None,
) -> None:
    """Prove that the checks of exercises accept what is right, and reject what is wrong."""
    settings = load_settings()
    folders = [find_folder(settings.problems, slug) for slug in slugs or _all_of(settings)]
    reports = _Reports(
        json=json,
        junit_file=junit_file,
        html_folder=html_folder,
        on_github=settings.github if annotate is None else annotate,
        summary_file=settings.github_summary,
    )
    try:
        reports.prepare()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", Status.USAGE)
    session = _Session(settings, seeds, None if sandbox is None else sandbox.value)
    proofs = []
    try:
        for proof in session.prove(folders, fresh=fresh):
            proofs.append(proof)
            reports.print(proof)
    except MutationUnavailable as missing:
        fail(str(missing), Status.USAGE)
    reports.finish(proofs)
    proven = all(proof.proven for proof in proofs)
    raise typer.Exit(Status.ACCEPTED if proven else Status.NOT_ACCEPTED)


def _all_of(settings: Settings) -> Sequence[str]:
    slugs = list_slugs(settings.problems)
    if not slugs:
        fail(f"there are no problems in {settings.problems}", Status.USAGE)
    return slugs


# --- proving --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Session:
    """One `judge verify`: where to prove, and how thoroughly."""

    settings: Settings
    seeds: int
    sandbox: SandboxName | None

    def prove(self, folders: Sequence[Path], *, fresh: bool) -> Iterator[Proof]:
        """The proofs of `folders`, in order; those that cannot be loaded need no sandbox."""
        loaded = [_load(folder) for folder in folders]
        problems = [each for each in loaded if isinstance(each, Problem)]
        with ExitStack() as stack:
            proofs: Iterator[Proof] = iter(())
            if problems:
                asked = self._prover(stack, fresh=fresh).prove_all(problems)
                proofs = stack.enter_context(closing(asked))  # before its boxes and its cache are
            for each in loaded:
                yield each if isinstance(each, Proof) else next(proofs)

    def _prover(self, stack: ExitStack, *, fresh: bool) -> Prover:
        launcher = choose_launcher(self.settings, self.sandbox, announce)
        cache = FileCache(self.settings.cache / CACHE_NAME, fresh=fresh)
        return Prover(
            self._judge_in(launcher, stack),
            threads=self.settings.processors,
            seeds=self.seeds,
            cache=stack.enter_context(cache),
            elsewhere=self._elsewhere(launcher.name, stack),
            on_progress=stack.enter_context(_progress(console(stderr=True))),
        )

    def _judge_in(self, launcher: Launcher, stack: ExitStack) -> Judge:
        return stack.enter_context(open_judge(launcher, self.settings.processors))

    def _elsewhere(self, here: str, stack: ExitStack) -> Elsewhere:
        """The sandbox that was not chosen, if nobody chose and it can be had."""
        if self.sandbox is not None:
            return Elsewhere()
        try:
            launcher = choose_launcher(self.settings, OTHER[here], announce)
            return Elsewhere(self._judge_in(launcher, stack))
        except SandboxError as error:
            return Elsewhere(reason=f"there is no {OTHER[here]} here: {error.problem}")
        except JudgeFault as fault:
            return Elsewhere(reason=f"{OTHER[here]} does not work here: {fault}")


def _load(folder: Path) -> Problem | Proof:
    try:
        return load_problem(folder)
    except ProblemError as error:
        return invalid_folder(folder.name, str(folder), error)


@contextmanager
def _progress(screen: Console) -> Iterator[OnProgress]:
    """A bar on a terminal; in a pipe nothing, for a line comes with every proof."""
    if not screen.is_terminal:
        yield lambda _answered, _asked: None
        return
    columns = (
        TextColumn("proving"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("proving", total=None)
        yield lambda answered, asked: bar.update(task, completed=answered, total=asked)


# --- what is printed and written ------------------------------------------------------------------


@dataclass(frozen=True)
class _Reports:
    """Where the proofs go."""

    json: bool
    junit_file: Path | None
    html_folder: Path | None
    on_github: bool
    summary_file: Path | None

    def prepare(self) -> None:
        """Find out now what could not be written after minutes of work."""
        for folder in (
            self.html_folder, None if self.junit_file is None else self.junit_file.parent
        ):  # fmt: skip
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)

    def print(self, proof: Proof) -> None:
        """Say what came of one problem."""
        if self.json:
            print_json(proof)
        else:
            out = console(stderr=False)
            with github.nothing_obeyed(typer.echo) if self.on_github else nullcontext():
                for part in terminal.details(proof):
                    show(out, part)
                out.print()
        if self.on_github:
            stream = sys.stderr if self.json else sys.stdout
            for line in github.annotations([proof], Path.cwd()):
                typer.echo(line, file=stream)

    def finish(self, proofs: Sequence[Proof]) -> None:
        """Write what is about all of them."""
        if not self.json:
            show(console(stderr=False), terminal.overview(proofs))
        if self.junit_file is not None:
            self.junit_file.write_bytes(junit.junit_xml(proofs))
        if self.html_folder is not None:
            for path in html.write_pages(proofs, self.html_folder)[-1:]:
                announce(f"pages are in {path.parent}")
        if self.on_github and self.summary_file is not None:
            with self.summary_file.open("a", encoding="utf-8") as file:
                file.write(github.summary(proofs, Path.cwd()))
