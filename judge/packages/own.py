"""A package that an exercise of ours travels in: the exercise is taken out as it was put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from judge.inspection import MANIFEST, PACKAGES
from judge.manifest import Identifier, Slug
from judge.packages.archive import Package
from judge.packages.export import (
    ATTACHMENTS,
    OWN_EXERCISE,
    OWN_NEEDS,
    OWN_PACKAGES,
    export_problem,
)
from judge.problem import Problem
from sandbox.text import one_line

_EXERCISE: TypeAdapter[str] = TypeAdapter(Slug)
_MODULE: TypeAdapter[str] = TypeAdapter(Identifier)


@dataclass(frozen=True)
class Taken:
    """Folders to write, by their paths among the exercises; `slug` is the exercise's own."""

    slug: str
    folders: Mapping[str, Mapping[str, bytes]]


def is_own(package: Package) -> bool:
    """Whether an exercise of ours is in it."""
    return bool(package.below(OWN_EXERCISE))


def take_own(package: Package, slug: str | None) -> Taken:
    """The exercise, and what it needs. Raises `PackageError`; `slug` may only be its own."""
    exercises = _folders(package, OWN_EXERCISE)
    if len(exercises) != 1 or MANIFEST not in (files := next(iter(exercises.values()))):
        raise package.error(
            f"{OWN_EXERCISE} does not hold one exercise", "export it anew, or remove that folder"
        )
    own = next(iter(exercises))
    if slug not in (None, own):
        raise package.error(
            f"the exercise in it is called {own}, and its version depends on that",
            "import it without --slug, then rename the folder and its `id`",
        )
    needed, modules = _folders(package, OWN_NEEDS), _folders(package, OWN_PACKAGES)
    _require_names(package, {own, *needed}, set(modules))
    return Taken(
        own,
        {
            own: files,
            **needed,
            **{f"{PACKAGES}/{name}": contents for name, contents in modules.items()},
        },
    )


def _require_names(package: Package, exercises: set[str], modules: set[str]) -> None:
    """Each folder can be one of the bank's. Raises `PackageError`."""
    good = {each for each in exercises if _fits(_EXERCISE, each)} - {PACKAGES}
    good |= {each for each in modules if _fits(_MODULE, each)}
    for name in sorted((exercises | modules) - good):
        raise package.error(
            f"nothing among the exercises can be called {one_line(name, 100)!r}",
            "do not trust it; ask who made it",
        )


def _fits(form: TypeAdapter[str], name: str) -> bool:
    try:
        form.validate_python(name)
    except ValidationError:
        return False
    return True


def changed_outside(package: Package, problem: Problem) -> tuple[str, ...]:
    """Texts of the package that no longer say what the exercise in it says, by path."""
    return tuple(_changed(package, export_problem(problem).files))


def missing_beside(taken: Taken, root: Path) -> dict[str, Mapping[str, bytes]]:
    """The folders that are to be written: what it needs is left alone where it is there."""
    return {
        path: files
        for path, files in taken.folders.items()
        if path == taken.slug or not (root / path).exists()
    }


def _changed(package: Package, files: Mapping[str, bytes]) -> Iterator[str]:
    for name, data in files.items():
        is_text = name.startswith(("statement/", "solution/", f"{ATTACHMENTS}/"))
        if is_text and name in package and package.read(name) != data:
            yield name


def _folders(package: Package, inside: str) -> dict[str, dict[str, bytes]]:
    """The files in each folder of a folder, by their paths in it."""
    found: dict[str, dict[str, bytes]] = {}
    for name in package.below(inside):
        folder, *rest = PurePosixPath(name).relative_to(inside).parts
        if rest:
            found.setdefault(folder, {})["/".join(rest)] = package.read(name)
    return found
