"""Runs an interpreter session on the student's class."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import solution
import torch

PROMPT, CONTINUED = ">>> ", "... "


def run_session(text: str) -> str:
    """The values that an interpreter shows for the ``>>>`` lines of `text`, a line or more each.

    The lines find `torch` and the student's `MultiHeadAttention`. What they raise is let through,
    and what the student's code prints goes where it always goes.
    """
    namespace = {"torch": torch, "MultiHeadAttention": solution.MultiHeadAttention}
    shown: list[str] = []
    hook_before = sys.displayhook
    sys.displayhook = lambda value: None if value is None else shown.append(f"{value!r}\n")
    try:
        for source in _statements(text):
            exec(compile(source, "<session>", "single"), namespace)  # noqa: S102  # its purpose
    finally:
        sys.displayhook = hook_before
    return "".join(shown)


def _statements(text: str) -> Iterator[str]:
    """The source behind each prompt; lines behind ``...`` belong to the prompt before them."""
    statement: list[str] = []
    for line in text.splitlines():
        if line.startswith(PROMPT) and statement:
            yield "\n".join([*statement, ""])
            statement = []
        if line.startswith((PROMPT, CONTINUED)):
            statement.append(line[len(PROMPT) :])
    if statement:
        yield "\n".join([*statement, ""])
