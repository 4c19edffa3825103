"""`judge new`: a complete small exercise to begin with, which is proven as it stands."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from rich.text import Text

from judge.commands.new_folder import require_exercise_name, require_own_root, require_slug
from judge.commands.terminal import Status, console, fail
from judge.inspection import ACCEPTED, MANIFEST
from judge.render import note, safe, show
from judge.settings import Settings, load_settings
from judge.templates.writing import Card, Template, files_of, write_files

DRAFTS = "drafts"


def new(
    slug: Annotated[str, typer.Argument(help="Its name, and that of its folder: soft-maximum.")],
    kind: Annotated[
        Template | None,
        typer.Option(help="What students write.", show_default="asked for; function in a pipe"),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            help="What people read.", show_default="asked for; made of the name in a pipe"
        ),
    ] = None,
    track: Annotated[str, typer.Option(help="Where the catalogue lists it.")] = DRAFTS,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The folder of all exercises.", show_default="JUDGE_PROBLEMS"
        ),
    ] = None,
) -> None:
    """Write a complete small exercise of a kind, which you then make yours."""
    settings = load_settings()
    root = into or settings.problems
    require_exercise_name(slug)
    require_slug("The track", track)
    require_own_root(root)
    _require_new(root / slug)
    template = kind or _ask_kind()
    number = 1 + max(_numbers_in(root, track), default=0)
    card = Card(slug, _checked_title(title or _ask_title(slug)), track, number)
    files = files_of(template, card)
    folder = root / slug
    try:
        write_files(folder, files)
    except OSError as error:
        fail(
            f"{folder} cannot be written: {error.strerror}.\n"
            "Name another folder of exercises with --into or JUDGE_PROBLEMS.",
            Status.USAGE,
        )
    _tell(settings, folder, card, files)


# --- what is refused ------------------------------------------------------------------------------


def _require_new(folder: Path) -> None:
    if folder.exists():
        fail(f"{folder} exists: choose another name, or remove it.", Status.USAGE)


def _checked_title(title: str) -> str:
    stripped = title.strip()
    if not stripped or not stripped.isprintable():
        fail(f"The title cannot be {title!r}: write one line of text.", Status.USAGE)
    return stripped


def _numbers_in(root: Path, track: str) -> Iterator[int]:
    """The places that are taken in a track, as far as manifests can be read."""
    for manifest in root.glob(f"*/{MANIFEST}"):
        try:
            taken = tomllib.loads(manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not valid: whoever proves that folder is told
            continue
        if taken.get("track") == track and isinstance(number := taken.get("number"), int):
            yield number


# --- what is asked --------------------------------------------------------------------------------


def _ask_kind() -> Template:
    if not sys.stdin.isatty():
        return Template.FUNCTION
    for template in Template:
        typer.echo(f"  {template:<10}{template.about}")
    kind: Template = typer.prompt(
        "What do students write?", default=Template.FUNCTION.value, value_proc=_template_called
    )
    return kind


def _template_called(name: str) -> Template:
    try:
        return Template(name.strip().lower())
    except ValueError:
        raise typer.BadParameter(f"write one of: {', '.join(Template)}") from None


def _ask_title(slug: str) -> str:
    made = slug.replace("-", " ").capitalize()
    if not sys.stdin.isatty():
        return made
    asked: str = typer.prompt("What is its title?", default=made)
    return asked


# --- what is said ---------------------------------------------------------------------------------


def _tell(settings: Settings, folder: Path, card: Card, files: dict[str, bytes]) -> None:
    out = console(stderr=False)
    for line in _tree(folder, files):
        show(out, Text(safe(line)), soft_wrap=True)
    show(out, note("next", list(_commands(settings, folder, files))), soft_wrap=True)
    place = f"number {card.number} under {card.track!r}"
    advice = [
        "It is proven as it stands. Replace its idea with yours, file by file.",
        f"The catalogue lists it as {place}: `track` and `number` in {MANIFEST}.",
    ]
    show(out, note("then", advice), soft_wrap=True)


def _tree(folder: Path, files: Iterable[str]) -> Iterator[str]:
    """The folder, and a line for each folder in it with the names of its files."""
    inside: dict[str, list[str]] = {}
    for name in files:
        path = PurePosixPath(name)
        inside.setdefault(str(path.parent), []).append(path.name)
    yield f"{folder}/"
    yield f"  {'  '.join(inside.pop('.'))}"
    for parent, names in inside.items():
        yield f"  {parent + '/':<26}  {'  '.join(names)}"


def _commands(settings: Settings, folder: Path, files: Iterable[str]) -> Iterator[str]:
    slug = folder.name
    if folder.parent.resolve() != settings.problems.resolve():
        yield f"export JUDGE_PROBLEMS={shlex.quote(str(folder.parent.resolve()))}"
    yield f"judge dev {slug}"
    yield f"judge verify {slug}"
    accepted = next(name for name in files if name.startswith(f"{ACCEPTED}/"))
    yield f"judge run {slug} {shlex.quote(str(folder / accepted))}"
