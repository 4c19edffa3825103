"""Bounded records of exceptions that submitted code raised.

Theory of operation
-------------------
An exception of a submission is hostile data with methods: its `__str__` may raise, hang or return
a gigabyte, its class may lie about its name through a metaclass, its attributes may be properties.
The record is made in the process that ran the submission and only plain text leaves it. Names,
bases and tracebacks are read through the slots of `type` and `BaseException`, which a subclass
cannot replace; the one hostile method that has to run is `__str__`, and whatever it raises is
swallowed. Causes and contexts are not followed. Nothing here touches the operating system, so the
grader's in-process twin uses the same functions.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import FrameType, TracebackType

from sandbox.protocol import MAX_LINE, MAX_MESSAGE_CHARS, CodeFrame, Failure

MAX_FRAMES = 32
MAX_NAME_CHARS = 256
MAX_BASES = 32

# Taken before any submission runs, and found by identity: a hostile metaclass has a hostile hash.
_BUILTIN_NAMES = {
    id(value): name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name
}
_TYPE_SLOTS = vars(type)
_EXCEPTION_SLOTS = vars(BaseException)
_SYNTAX_SLOTS = vars(SyntaxError)


def bounded_text(text: str, max_chars: int) -> str:
    """At most `max_chars` characters of `text`, lone surrogates escaped, always a plain `str`.

    Control characters stay; who shows the text escapes them.
    """
    if len(text) <= max_chars and type(text) is str and text.isascii():
        return text
    head = str.__getitem__(text, slice(0, max_chars + 1))
    if (escaped := str.encode(head, "utf-8", "backslashreplace").decode("utf-8")) == text:
        return escaped[:max_chars] if len(escaped) > max_chars else escaped
    return escaped if len(escaped) <= max_chars else escaped[: max_chars - 1] + "…"


def type_name(kind: type) -> str:
    """The name a class was made with, whatever its metaclass pretends; at most 256 characters."""
    return bounded_text(_TYPE_SLOTS["__name__"].__get__(kind), MAX_NAME_CHARS)


def describe_exception(error: BaseException, sources: Mapping[str, bytes]) -> Failure:
    """Record `error`, keeping the innermost 32 frames in the files `sources` (name to source)."""
    kind = type(error)
    line, column, text = _syntax_place(error) if issubclass(kind, SyntaxError) else (None, None, "")
    return Failure(
        kind=type_name(kind),
        bases=_builtin_bases(kind),
        message=_message_of(error),
        frames=_frames_of(error, sources),
        syntax_line=line,
        syntax_column=column,
        syntax_text=text,
    )


def describe_compile_error(error: Exception, file: str, source: bytes) -> Failure:
    """Record what the compiler said about `file`; the one frame is the place it points at."""
    line, column, text = (None, None, "")
    if isinstance(error, SyntaxError):
        line, column, text = _syntax_place(error)
    text = text or source_line(source, line)
    return Failure(
        kind=type_name(type(error)),
        bases=_builtin_bases(type(error)),
        message=_compiler_message(error),
        frames=[CodeFrame(file=file, line=line or 1, function="<module>", text=text.strip())],
        syntax_line=line,
        syntax_column=column,
        syntax_text=text,
    )


def source_line(source: bytes, line: int | None) -> str:
    """Line `line` (from 1) of a source, without its end, at most 256 characters; else ""."""
    if line is None:
        return ""
    lines = source.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    text = lines[line - 1][: 4 * MAX_NAME_CHARS].decode("utf-8", "replace")
    return bounded_text(text, MAX_NAME_CHARS)


def _compiler_message(error: Exception) -> str:
    if isinstance(error, MemoryError | RecursionError):
        return "the code is nested too deeply for the compiler"
    # str(error) of a SyntaxError repeats file and line, which the record has anyway.
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return bounded_text(text, MAX_MESSAGE_CHARS)


def _message_of(error: BaseException) -> str:
    try:
        return bounded_text(str(error), MAX_MESSAGE_CHARS)
    except BaseException:  # noqa: BLE001  # a submission's `__str__` may raise SystemExit as well
        return "(the message of this exception could not be read)"


def _builtin_bases(kind: type) -> list[str]:
    mro = _TYPE_SLOTS["__mro__"].__get__(kind)
    names = [_BUILTIN_NAMES[id(base)] for base in mro if id(base) in _BUILTIN_NAMES]
    return names[:MAX_BASES]


def _frames_of(error: BaseException, sources: Mapping[str, bytes]) -> list[CodeFrame]:
    kept: list[CodeFrame] = []
    step: TracebackType | None = _EXCEPTION_SLOTS["__traceback__"].__get__(error)
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file in sources:
            kept.append(_code_frame(step.tb_frame, step.tb_lineno, file, sources[file]))
            del kept[:-MAX_FRAMES]
        step = step.tb_next
    return kept


def frames_from(frame: FrameType | None, sources: Mapping[str, bytes]) -> list[CodeFrame]:
    """The calls that led to `frame`, the innermost last: at most 32 in the files `sources`."""
    kept: list[CodeFrame] = []
    while frame is not None and len(kept) < MAX_FRAMES:
        file = frame.f_code.co_filename
        if file in sources:
            kept.append(_code_frame(frame, frame.f_lineno, file, sources[file]))
        frame = frame.f_back
    return kept[::-1]


def _code_frame(frame: FrameType, line: int | None, file: str, source: bytes) -> CodeFrame:
    line = line or 1
    return CodeFrame(
        file=bounded_text(file, MAX_NAME_CHARS),
        line=line if 0 < line < MAX_LINE else 1,
        function=bounded_text(frame.f_code.co_name, MAX_NAME_CHARS),
        text=source_line(source, line).strip(),
    )


def _syntax_place(error: BaseException) -> tuple[int | None, int | None, str]:
    line = _SYNTAX_SLOTS["lineno"].__get__(error)
    column = _SYNTAX_SLOTS["offset"].__get__(error)
    text = _SYNTAX_SLOTS["text"].__get__(error)
    return (
        line if type(line) is int and 0 < line < MAX_LINE else None,
        column if type(column) is int and 0 < column < MAX_LINE else None,
        bounded_text(text, MAX_NAME_CHARS).rstrip("\n") if isinstance(text, str) else "",
    )
