"""`judge submit`: a submission to a judge that runs somewhere, followed until its verdict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judge.client import (
    Client,
    ClientError,
    NotSendable,
    Refused,
    Unreachable,
    is_loopback,
    kept_token,
)
from judge.commands.terminal import Status, announce, console, fail, progress_on, tell_left_out
from judge.render import note, report, show
from judge.results import Result
from judge.settings import Settings, load_settings
from judge.sources import read_sources


def submit(
    slug: Annotated[str, typer.Argument(help="The problem, e.g. multi-head-attention.")],
    path: Annotated[
        Path,
        typer.Argument(
            help="The submission: a file, or a folder for several files.", readable=False
        ),
    ],
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The judge to send it to.", show_default="JUDGE_SERVER"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Send a submission to a running judge and wait for its verdict."""
    settings = load_settings()
    address = server or settings.server
    try:
        with Client(address, token_for(settings, address)) as client:
            result = _judged(client, address, slug, path, json=json)
    except Refused as refused:
        fail(str(refused), Status.JUDGE_FAILURE if refused.is_theirs else Status.USAGE)
    except NotSendable as error:
        fail(str(error), Status.USAGE)
    except Unreachable as error:
        fail(f"{error}\n{_remedy(address)}", Status.JUDGE_FAILURE)
    except ClientError as error:
        fail(str(error), Status.JUDGE_FAILURE)
    _print(result, path, address, json=json)
    raise typer.Exit(Status.of(result.outcome))


def _judged(client: Client, address: str, slug: str, path: Path, *, json: bool) -> Result:
    problem = client.problem(slug)
    files = read_sources(path, problem)
    tell_left_out(path)
    submission = client.submit(slug, files)
    if not json:
        announce(f"taken, see {_url(address, submission)}")  # whatever becomes of us from here on
    with progress_on(console(stderr=True), json=json).following(problem, str(path)) as listen:
        for event in client.follow(submission):
            listen(event)
    return client.result(submission)


def token_for(settings: Settings, address: str) -> str:
    """Who sends it: the token that is set, else, but for a judge on this machine, a kept one."""
    if settings.token or is_loopback(address):
        return settings.token
    return kept_token(settings.config)


def _print(result: Result, path: Path, address: str, *, json: bool) -> None:
    if json:
        sys.stdout.buffer.write(result.model_dump_json().encode() + b"\n")  # in any locale
        sys.stdout.buffer.flush()
        return
    out = console(stderr=False)
    show(out, report(result, str(path)))
    show(out, note("submission", [_url(address, result.id)]), soft_wrap=True)


def _url(address: str, submission: str) -> str:
    return f"{address.rstrip('/')}/api/submissions/{submission}"


def _remedy(address: str) -> str:
    if is_loopback(address):
        return "Start one with `judge serve`, or name another with --server or JUDGE_SERVER."
    return "Name another with --server or JUDGE_SERVER; `judge serve` starts one on this machine."
