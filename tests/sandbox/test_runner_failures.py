"""Records of exceptions, some of them made to break whoever reads them."""

from __future__ import annotations

import msgspec
import pytest

from sandbox.protocol import (
    MAX_MESSAGE_CHARS,
    Failure,
    Setting,
)
from sandbox.runner.failures import MAX_FRAMES, bounded_text, describe_exception
from sandbox.runner.loading import load_submission
from sandbox.runner.student import is_for_memory

MAIN = "solution.py"

LYING_CLASS = b"""
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    __mro__ = property(lambda cls: 1 / 0)
    def __hash__(cls): raise SystemExit
    def __eq__(cls, other): raise SystemExit
class E(ValueError, metaclass=Meta): pass
def f(): raise E('x')
"""


def failure_of(source: bytes) -> Failure:
    """What is recorded when `f` of a module raises, after a trip through a frame."""
    f = load_submission({MAIN: source}, Setting(MAIN))["f"]
    assert callable(f)
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # any at all
        f()
    failure = describe_exception(caught.value, {MAIN: source})
    return msgspec.msgpack.decode(msgspec.msgpack.encode(failure), type=Failure)


def test_kind_bases_message_and_frames_are_recorded() -> None:
    failure = failure_of(b"class Odd(KeyError): pass\ndef f():\n    raise Odd('k')\n")
    assert failure.kind == "Odd"
    assert failure.bases == ["KeyError", "LookupError", "Exception", "BaseException"]
    assert failure.message == "'k'"
    frame = failure.frames[-1]
    assert (frame.file, frame.line, frame.function, frame.text) == (MAIN, 3, "f", "raise Odd('k')")


def test_frames_outside_the_submission_are_left_out() -> None:
    failure = failure_of(b"import json\ndef f():\n    json.loads('{')\n")
    assert [frame.file for frame in failure.frames] == [MAIN]


def test_deep_recursion_keeps_the_innermost_frames() -> None:
    assert len(failure_of(b"def f(): return f()\n").frames) == MAX_FRAMES


@pytest.mark.parametrize(
    "body", ["raise SystemExit", "return 1", "return 'x' * 10**7", "return chr(0xDC00)", "1 / 0"]
)
def test_a_hostile_message_is_bounded(body: str) -> None:
    source = f"class E(Exception):\n    def __str__(self):\n        {body}\ndef f(): raise E\n"
    assert 0 < len(failure_of(source.encode()).message) <= MAX_MESSAGE_CHARS


def test_a_class_that_lies_is_seen_through() -> None:
    failure = failure_of(LYING_CLASS)
    assert (failure.kind, failure.bases[0]) == ("E", "ValueError")


def test_a_made_up_syntax_error_is_recorded() -> None:
    failure = failure_of(
        b"def f():\n    e = SyntaxError('x')\n    e.lineno = 10**30\n    e.offset = 'no'\n"
        b"    e.text = 7\n    raise e\n"
    )
    assert (failure.syntax_line, failure.syntax_column, failure.syntax_text) == (None, None, "")


def test_bounded_text_is_plain_and_short() -> None:
    class Odd(str):
        __slots__ = ()

    assert type(bounded_text(Odd("x" * 50), 10)) is str
    assert bounded_text("x" * 50, 10) == "x" * 9 + "…"
    assert bounded_text("\udc00", 10) == "\\udc00"


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried ...", True),
        ("RuntimeError", "std::bad_alloc", True),
        ("OSError", "[Errno 12] Cannot allocate memory", True),
        ("ImportError", "libx.so: failed to map segment from shared object", True),
        ("RuntimeError", "can't start new thread", False),  # there is room: too many threads
        ("RuntimeError", "shapes differ", False),
        ("OSError", "[Errno 28] No space left on device", False),
        ("ValueError", "std::bad_alloc", False),
    ],
)
def test_every_way_to_say_that_memory_is_full_is_known(
    kind: str, message: str, *, expected: bool
) -> None:
    assert is_for_memory(kind, message) is expected
