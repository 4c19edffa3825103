"""`judge submit`: a submission to a judge that runs somewhere, followed until its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

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
from judge.commands.gradescope import GradescopeFile, keep_for_gradescope
from judge.commands.terminal import (
    Status,
    announce,
    console,
    fail,
    print_json,
    progress_on,
    tell_left_out,
)
from judge.gradescope import gradescope_results
from judge.own_tests import OWN_TESTS
from judge.progress import Tiered
from judge.render import note, report, show
from judge.results import Kind, Result
from judge.settings import Settings, load_settings
from judge.sources import read_sources, read_tests

NEEDS_REMEDY = "With --ref-deps it is judged on top of the references."


def submit(
    slug: Annotated[str, typer.Argument(help="The problem, e.g. multi-head-attention.")],
    path: Annotated[
        Path,
        typer.Argument(
            help="The submission: a file, or a folder for several files.", readable=False
        ),
    ],
    tests: Annotated[
        bool, typer.Option("--tests", help="Send tests of your own: test_*.py at PATH.")
    ] = False,
    ref_deps: Annotated[
        bool,
        typer.Option(
            "--ref-deps", help="Build on the references of the exercises that this one needs."
        ),
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The judge to send it to.", show_default="JUDGE_SERVER"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    gradescope: GradescopeFile = None,
) -> None:
    """Send a submission to a running judge and wait for its verdict."""
    settings = load_settings()
    address = server or settings.server
    try:
        with Client(address, token_for(settings, address)) as client:
            sending = _Sending(client, address, slug, path, tests=tests, ref_deps=ref_deps)
            result = sending.judged(json=json)
    except Refused as refused:
        words = f"{refused}\n{NEEDS_REMEDY}" if refused.is_unmet else str(refused)
        fail(words, Status.JUDGE_FAILURE if refused.is_theirs else Status.USAGE)
    except NotSendable as error:
        fail(str(error), Status.USAGE)
    except Unreachable as error:
        fail(f"{error}\n{_remedy(address)}", Status.JUDGE_FAILURE)
    except ClientError as error:
        fail(str(error), Status.JUDGE_FAILURE)
    if gradescope is not None:
        keep_for_gradescope(gradescope_results(result), gradescope)
    _print(result, path, address, json=json)
    raise typer.Exit(Status.of(result.outcome))


@dataclass(frozen=True)
class _Sending:
    """What is sent, and where."""

    client: Client
    address: str
    slug: str
    path: Path
    tests: bool
    ref_deps: bool

    def judged(self, *, json: bool) -> Result:
        """Send it and follow it to its result."""
        problem = self.client.problem(self.slug)
        if self.tests:
            kind: Kind = "tests"
            files = read_tests(self.path, problem)
            shown: Tiered = OWN_TESTS
        else:
            kind = "submit"
            files = read_sources(self.path, problem)
            shown = problem
            tell_left_out(self.path)
        submission = self.client.submit(self.slug, files, kind, ref_deps=self.ref_deps)
        if not json:  # whatever becomes of us from here on
            announce(f"taken, see {_page(self.address, self.slug, submission)}")
        screen = console(stderr=True)
        with progress_on(screen, json=json).following(shown, str(self.path)) as listen:
            for event in self.client.follow(submission):
                listen(event)
        return self.client.result(submission)


def token_for(settings: Settings, address: str) -> str:
    """Who sends it: the token that is set, else, but for a judge on this machine, a kept one."""
    if settings.token or is_loopback(address):
        return settings.token
    return kept_token(settings.config)


def _print(result: Result, path: Path, address: str, *, json: bool) -> None:
    if json:
        print_json(result)
        return
    out = console(stderr=False)
    show(out, report(result, str(path)))
    places = [_page(address, result.problem, result.id), _url(address, result.id)]
    show(out, note("submission", places), soft_wrap=True)


def _page(address: str, slug: str, submission: str) -> str:
    """Where a browser shows it."""
    return f"{address.rstrip('/')}/problems/{quote(slug, safe='')}?submission={submission}"


def _url(address: str, submission: str) -> str:
    return f"{address.rstrip('/')}/api/submissions/{submission}"


def _remedy(address: str) -> str:
    if is_loopback(address):
        return "Start one with `judge serve`, or name another with --server or JUDGE_SERVER."
    return "Name another with --server or JUDGE_SERVER; `judge serve` starts one on this machine."
