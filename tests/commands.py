"""Commands of `judge` that run in this process, and how they, or others, ended."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from judge.cli import main
from judge.results import Result


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def results(self) -> list[Result]:
        """The results printed by --json."""
        return [Result.model_validate_json(line) for line in self.out.splitlines()]


def status_of(*arguments: object) -> int:
    """The exit status of `judge` with these arguments."""
    with pytest.raises(SystemExit) as caught:
        main([str(argument) for argument in arguments])
    code = caught.value.code
    assert code is None or isinstance(code, int)
    return code or 0


def run_judge(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ended:
    """The same, with what it wrote."""
    status = status_of(*arguments)
    shown = capsys.readouterr()
    return Ended(status, shown.out, shown.err)
