"""What goes wrong on our side while judging.

    JudgeFault            we cannot judge
    +-- BrokenChecks      ... because the problem's checks cannot be collected
    +-- NotStarted        ... because a box does not start
    +-- Untried           ... and nothing of the submission has run: it had no part in it
    Lost                  one try ended without a verdict; another may succeed
    +-- RunnerLost        ... because the runner box is gone or does not answer
    +-- JobEnded          ... because its process in the grader box ended

A `JudgeFault` leaves `judge.judging`; a `Lost` never does.
"""

from __future__ import annotations


class JudgeFault(Exception):
    """We cannot judge: a box that does not start, a defence that does not hold."""


class BrokenChecks(JudgeFault):
    """The checks of a problem cannot be collected: the author's file and line, and why."""

    def __init__(self, slug: str, file: str, line: int, message: str) -> None:
        super().__init__(f"problems/{slug}/{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


class NotStarted(JudgeFault):
    """A box ended, or was ended, before it was warm."""


class Untried(JudgeFault):
    """No box could be had, so nothing of the submission has run."""


class Lost(Exception):
    """This try ended without a verdict; another may succeed."""


class RunnerLost(Lost):
    """The runner box is gone or does not answer; another has to be started."""


class JobEnded(Lost):
    """The process of a job ended without an answer, or was ended because it took too long."""
