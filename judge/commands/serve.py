"""`judge serve` and `judge work`: the service, and more hands for it.

What they run is imported when they do: it takes a second that other commands need not wait.
"""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from judge.commands.terminal import Status, announce, fail
from judge.settings import load_settings


def serve(
    host: Annotated[
        str, typer.Option(help="Address to serve; 0.0.0.0 for all of this machine's.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Judge nothing here; `judge work` does.")
    ] = False,
) -> None:
    """Serve the judge over HTTP, with a database and a worker of its own unless told otherwise."""
    from judge.service import starting  # noqa: PLC0415 - see above

    settings = load_settings()
    try:
        starting.serve(settings, host, port, announce, with_worker=not no_worker)
    except starting.CannotStart as error:
        _fail(error, by_user=error.by_user)


def work(
    slots: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="Submissions judged at once.", show_default="JUDGE_SLOTS"
        ),
    ] = None,
) -> None:
    """Judge what a service has queued: any number of these, on any machine, share the work."""
    from judge.service import starting  # noqa: PLC0415 - see above

    settings = load_settings()
    if slots is not None:
        settings = settings.model_copy(update={"slots": slots})
    try:
        starting.work(settings, announce)
    except starting.CannotStart as error:
        _fail(error, by_user=error.by_user)


def _fail(error: Exception, *, by_user: bool) -> NoReturn:
    fail(str(error), Status.USAGE if by_user else Status.JUDGE_FAILURE)
