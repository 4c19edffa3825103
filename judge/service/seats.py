"""How many streams of events each student has open, in one process.

A stream costs a place in the process and a look at the database each second, and asking for one
costs nothing: one student must not take the places of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from judge.service.errors import ErrorKind, Refusal

SEATS = 16  # a tab needs one, and only while something is judged
TRY_AGAIN_S = 5.0


class Seats:
    """The places that are taken, by student."""

    def __init__(self, each: int = SEATS) -> None:
        self._each = each
        self._taken: Counter[str] = Counter()

    def take(self, student: str) -> Callable[[], None]:
        """Take a place; what is returned gives it back, once. Raises `Refusal`."""
        if self._taken[student] >= self._each:
            detail = (
                f"{self._each} streams of events are open for you, as many as may be. Close one, "
                "or ask for the submission itself."
            )
            raise Refusal(ErrorKind.TOO_MANY_STREAMS, detail, retry_after_s=TRY_AGAIN_S)
        self._taken[student] += 1
        given_back = False

        def give_back() -> None:
            nonlocal given_back
            if not given_back:
                given_back = True
                self._taken[student] -= 1
                if not self._taken[student]:
                    del self._taken[student]

        return give_back
