"""`judge export` and `judge import`: exercises as problem packages, and back.

What a package or a folder cannot say is told on stdout, and never made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from judge.commands.new_folder import require_exercise_name, require_own_root
from judge.commands.terminal import SandboxChoice, Status, announce, console, fail, progress_on
from judge.judging import JudgeFault
from judge.manifest import ProblemError
from judge.packages.archive import (
    Package,
    PackageError,
    open_package,
    write_folders,
    write_package,
)
from judge.packages.export import WrongSolution, export_problem, package_name, wrong_solutions
from judge.packages.foreign import begin, slug_of
from judge.packages.metadata import read_metadata
from judge.packages.own import changed_outside, is_own, missing_beside, take_own
from judge.problem import Problem, find_folder, load_problem
from judge.render import safe
from judge.settings import Settings, load_settings
from judge.startup import choose_launcher, open_judge
from judge.verdicts import Verdict


class PackageFormat(StrEnum):
    """What `judge export --format` takes."""

    KATTIS = "kattis"


def export(
    slug: Annotated[str, typer.Argument(help="The problem, e.g. multi-head-attention.")],
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Write it here: a new zip by its name, else a new folder.",
            show_default="a zip in this folder",
        ),
    ] = None,
    format: Annotated[  # noqa: A002  # the option's name
        PackageFormat, typer.Option(help="Layout of the package.")
    ] = PackageFormat.KATTIS,
    judge: Annotated[
        bool, typer.Option("--judge", help="Judge wrong solutions, and sort them by verdict.")
    ] = False,
    sandbox: Annotated[
        SandboxChoice | None,
        typer.Option(help="Sandbox to judge them in.", show_default="auto"),
    ] = None,
) -> None:
    """Write an exercise as a problem package, and say what did not fit."""
    assert format is PackageFormat.KATTIS
    settings = load_settings()
    problem = load_problem(find_folder(settings.problems, slug))
    target = (to or Path(f"{package_name(slug)}.zip")).absolute()
    if target.exists():  # said before anything is judged; writing looks again
        fail(f"{target} is there already. Name another place with --to.", Status.USAGE)
    verdicts = _verdicts(problem, settings, sandbox) if judge else None
    package = export_problem(problem, verdicts)
    try:
        write_package(target, package.name, package.files)
    except PackageError as error:
        fail(str(error), Status.USAGE)
    _say(f"written: {target}")
    _list("what did not fit, and is said in its README.md:", package.lost)


def import_package(
    package: Annotated[
        Path, typer.Argument(help="The package: a zip, or a folder.", readable=False)
    ],
    slug: Annotated[
        str | None, typer.Option(help="What to call the exercise.", show_default="as the package")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of exercises.", show_default="JUDGE_PROBLEMS"),
    ] = None,
) -> None:
    """Take an exercise out of a package, or begin one from a package made elsewhere."""
    root = into or load_settings().problems
    require_own_root(root)
    try:
        with open_package(package) as opened:
            if is_own(opened):
                _import_own(opened, slug, root)
            else:
                _begin(opened, slug, root)
    except PackageError as error:
        fail(str(error), Status.USAGE)


# --- export ---------------------------------------------------------------------------------------


def _verdicts(
    problem: Problem, settings: Settings, sandbox: SandboxChoice | None
) -> dict[str, Verdict]:
    """What every wrong solution gets. Raises `JudgeFault` when one is not rejected."""
    launcher = choose_launcher(settings, sandbox.value if sandbox else None, announce)
    progress = progress_on(console(stderr=True), json=False)
    with open_judge(launcher) as warm:
        found: dict[str, Verdict] = {}
        for each in wrong_solutions(problem):
            with progress.following(problem, each.name) as listener:
                files = {problem.main_file: each.source}
                result = warm.judge(problem, files, on_event=listener)
            found[each.name] = _rejecting(problem, each, result.outcome)
        return found


def _rejecting(problem: Problem, solution: WrongSolution, verdict: Verdict) -> Verdict:
    """`verdict`, unless it is none that a wrong solution can have."""
    if verdict in (Verdict.AC, Verdict.JE):
        words = f"{solution.name}, which {solution.tier} must reject, gets {verdict.words}"
        raise JudgeFault(f"{words}. `judge verify {problem.slug}` says more.")
    return verdict


# --- import ---------------------------------------------------------------------------------------


def _import_own(package: Package, slug: str | None, root: Path) -> None:
    """Take our own exercise out, and say whether it is what went in."""
    version = read_metadata(package).version
    taken = take_own(package, slug)
    folders = missing_beside(taken, root)
    write_folders(root, folders)
    _say_written(root, folders)
    try:
        problem = load_problem(root / taken.slug)
    except ProblemError as error:
        _list("it does not load as it is:", str(error).splitlines())
        return
    if problem.version == version:
        _say(f"version: {version}, as it was exported")
    else:
        _say(
            f"version: {problem.version}, exported as {version or 'none'}: the package was "
            "changed, or what the exercise needs is different here"
        )
    _list(
        "changed in the package, but not in the exercise, and so not taken:",
        changed_outside(package, problem),
    )


def _begin(package: Package, slug: str | None, root: Path) -> None:
    """Begin a folder, and say what is left to do."""
    name = slug or slug_of(package)
    require_exercise_name(name)
    begun = begin(package, name)
    folders = {begun.slug: begun.files}
    write_folders(root, folders)
    _say_written(root, folders)
    _list("what is left to do:", begun.left)
    _say(f"`judge verify {begun.slug}` says with file and line what keeps it from loading.")


def _say_written(root: Path, folders: Mapping[str, Mapping[str, bytes]]) -> None:
    for path in folders:
        _say(f"written: {root / path}")


def _list(title: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if found:
        _say("\n".join([title, *(f"  {line}" for line in found)]))


def _say(words: str) -> None:
    typer.echo(safe(words))
