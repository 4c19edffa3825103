"""`--gradescope FILE`: the option of commands that come to one result, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.commands.terminal import Status, fail
from judge.gradescope import GradescopeResults, write_gradescope

GradescopeFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the result here, as Gradescope's results.json.",
        dir_okay=False,
    ),
]


def keep_for_gradescope(results: GradescopeResults, path: Path) -> None:
    """Write `results.json`, or end the command with a usage error."""
    try:
        write_gradescope(results, path)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}.", Status.USAGE)
