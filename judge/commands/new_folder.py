"""What a new exercise may be called, and where its folder may be."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from judge.commands.terminal import Status, fail
from judge.inspection import PACKAGES
from judge.manifest import Slug

INSTALLED = {"site-packages", "dist-packages"}
SLUG_FORM = "lower-case letters, digits and single hyphens, 80 at most, such as soft-maximum"


def require_slug(what: str, name: str) -> None:
    """End the command with a usage error unless `name` can be a slug."""
    try:
        TypeAdapter(Slug).validate_python(name)
    except ValidationError:
        fail(f"{what} cannot be called {name!r}: write {SLUG_FORM}.", Status.USAGE)


def require_exercise_name(name: str) -> None:
    """End the command with a usage error unless an exercise can have that name."""
    require_slug("The exercise", name)
    if name == PACKAGES:
        fail(f"{PACKAGES} is the folder of packages: choose another name.", Status.USAGE)


def require_own_root(root: Path) -> None:
    """End the command with a usage error where a folder of exercises is not the author's."""
    if INSTALLED.intersection(root.resolve().parts):
        fail(
            f"{root} belongs to an installed package, and would be lost with its next version.\n"
            "Name a folder of your own with --into or JUDGE_PROBLEMS.",
            Status.USAGE,
        )
