"""What all commands share: exit statuses, where they print, and how they show progress."""

from __future__ import annotations

import shutil
import sys
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console

from judge.progress import LineProgress, LiveProgress, Progress, SilentProgress
from judge.render import safe
from judge.results import Record
from judge.sources import left_out
from judge.verdicts import Verdict
from sandbox.text import one_line

PIPE_WIDTH = 120
MAX_LEFT_OUT = 8


class Status(IntEnum):
    """Exit statuses; of several submissions the gravest counts, in this order."""

    ACCEPTED = 0
    NOT_ACCEPTED = 1
    USAGE = 2
    JUDGE_FAILURE = 3

    @classmethod
    def of(cls, verdict: Verdict) -> Status:
        """What a verdict makes the command exit with."""
        return _STATUSES.get(verdict, cls.NOT_ACCEPTED)


_STATUSES = {Verdict.AC: Status.ACCEPTED, Verdict.JE: Status.JUDGE_FAILURE}


class SandboxChoice(StrEnum):
    """What `--sandbox` takes."""

    AUTO = "auto"
    DOCKER = "docker"
    BWRAP = "bwrap"


def console(*, stderr: bool) -> Console:
    """A console on one of the two streams; in a pipe as wide as COLUMNS says."""
    made = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = shutil.get_terminal_size((PIPE_WIDTH, 0)).columns
    return made


def progress_on(screen: Console, *, json: bool) -> Progress:
    """Live on a terminal, lines in a pipe, nothing beside JSON in a pipe."""
    if screen.is_terminal:
        return LiveProgress(screen)
    return SilentProgress() if json else LineProgress(screen)


def print_json(record: Record) -> None:
    """Print a record as one line of JSON: in UTF-8, whatever the locale."""
    sys.stdout.buffer.write(record.model_dump_json().encode() + b"\n")
    sys.stdout.buffer.flush()


def announce(words: str) -> None:
    """Say something on stderr, beside what the command prints."""
    for line in safe(words).splitlines():
        typer.echo(f"judge: {line}", err=True)


def fail(words: str, status: Status) -> NoReturn:
    """Say what is wrong and end the command."""
    announce(words)
    raise typer.Exit(status)


def tell_left_out(folder: Path) -> None:
    """Say which files of a folder are not part of a submission."""
    names = left_out(folder)
    if names:
        more = len(names) - MAX_LEFT_OUT
        shown = ", ".join(names[:MAX_LEFT_OUT]) + (f" and {more} more" if more > 0 else "")
        announce(one_line(f"{folder}: only the .py files in it are taken, not {shown}"))
