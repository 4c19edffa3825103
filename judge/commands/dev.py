"""`judge dev`: an exercise as students will see it, live while it is written, and its proof."""

from __future__ import annotations

from typing import Annotated

import typer

from judge.commands.terminal import SandboxChoice, Status, announce, fail
from judge.problem import find_folder
from judge.settings import load_settings


def dev(
    slug: Annotated[str, typer.Argument(help="The problem, e.g. multi-head-attention.")],
    host: Annotated[
        str, typer.Option(help="Address to serve; whoever can reach it sees the reference.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    sandbox: Annotated[
        SandboxChoice | None,
        typer.Option(
            help="Sandbox to use; auto takes Docker when it can be had.", show_default="auto"
        ),
    ] = None,
) -> None:
    """Show a problem folder as students will see it, anew whenever a file is saved, and prove it.

    Nothing of it lasts: it has a database of its own, which is removed when it ends.
    """
    from judge.service import author_proving, starting  # noqa: PLC0415 - takes a second

    settings = load_settings()
    folder = find_folder(settings.problems, slug)
    if sandbox is not None:
        settings = settings.model_copy(update={"sandbox": sandbox.value})
    try:
        prover = author_proving.quick_prover(settings)
        starting.preview(settings, host, port, announce, folder, prover)
    except starting.CannotStart as error:
        fail(str(error), Status.USAGE if error.by_user else Status.JUDGE_FAILURE)
