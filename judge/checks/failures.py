"""Exceptions that a check ends with.

::

    AssertionError
    +-- CheckFailure        what should hold does not; carries the numbers
    Exception
    +-- SubmissionError     the judged code raised; also derives from the builtin it derives from
    +-- UnusableResult      it returned something that could not cross from it
"""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from judge.results import Detail
from sandbox.protocol import Failure, Items, Pairs, Strange, Value
from sandbox.text import printable

# Builtins that a submission's exception may match in a check. Names from a submission are only
# ever looked up here: no type is made from its word, and nothing in this list can end a session
# (SystemExit, KeyboardInterrupt) or steer an iterator (StopIteration).
_MATCHABLE = (
    ArithmeticError, AssertionError, AttributeError, BufferError, EOFError, FileNotFoundError,
    FloatingPointError, ImportError, IndexError, KeyError, LookupError, MemoryError,
    ModuleNotFoundError, NameError, NotImplementedError, OSError, OverflowError, PermissionError,
    RecursionError, ReferenceError, RuntimeError, SyntaxError, SystemError, TimeoutError,
    TypeError, UnboundLocalError, UnicodeError, ValueError, ZeroDivisionError,
)  # fmt: skip
_BUILTINS: dict[str, type[Exception]] = {kind.__name__: kind for kind in _MATCHABLE}


class CheckFailure(AssertionError):
    """What the check looks for does not hold. `message` is one or two sentences for the student."""

    def __init__(self, message: str, detail: Detail | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class SubmissionError(Exception):
    """The judged code raised; `failure` is the bounded record of it.

    What a check gets is a subclass that also derives from the builtin exception the original one
    derives from, so that ``pytest.raises(ValueError)`` works. ``str()`` is the original message.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def __str__(self) -> str:
        return self.failure.message


def fail(message: str, detail: Detail | None = None) -> NoReturn:
    """Raise `CheckFailure`."""
    raise CheckFailure(message, detail)


def submission_error(failure: Failure) -> SubmissionError:
    """The exception to raise in a check for what the judged code raised."""
    return _error_type(tuple(failure.bases))(failure)


@lru_cache(maxsize=256)
def _error_type(base_names: tuple[str, ...]) -> type[SubmissionError]:
    """`SubmissionError` joined with the first of `base_names`, nearest first, that may match."""
    known = [_BUILTINS[name] for name in base_names if name in _BUILTINS]
    if not known:
        return SubmissionError
    return type(f"SubmissionError[{known[0].__name__}]", (SubmissionError, known[0]), {})


class UnusableResult(Exception):
    """A call returned something that is neither an array nor a plain value: no usable result."""

    def __init__(self, strange: Strange) -> None:
        kind, reason = printable(strange.type_name), printable(strange.reason)
        super().__init__(f"The function returned a {kind} that cannot be used: {reason}.")


def require_usable(value: Value) -> None:
    """Raise `UnusableResult` when anything in `value` could not cross from the judged code."""
    match value:
        case Strange():
            raise UnusableResult(value)
        case Items(_, items):
            for item in items:
                require_usable(item)
        case Pairs(_, values):
            for item in values:
                require_usable(item)
