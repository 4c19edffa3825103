"""The files of submissions, read from paths that somebody typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from judge.own_tests import is_tests_file
from judge.results import Limits

TESTS_FOLDER = "tests"
_TESTS_REMEDY = "Name a file of tests called test_....py, or a folder that holds some."
_MODULE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.py")


class Expected(Protocol):
    """What a problem says about the files of a submission to it."""

    @property
    def main_file(self) -> str:
        """The file that every submission has."""

    @property
    def limits(self) -> Limits:
        """The limits in force."""


class UnreadableSources(Exception):
    """No submission can be read there; a line for each path says why and what to do."""


def read_all_sources(paths: Iterable[Path], problem: Expected) -> list[dict[str, bytes]]:
    """What `read_sources` reads at each path, or `UnreadableSources` that names every bad one."""
    submissions: list[dict[str, bytes]] = []
    refusals: list[str] = []
    for path in paths:
        try:
            submissions.append(read_sources(path, problem))
        except UnreadableSources as error:
            refusals.append(str(error))
    if refusals:
        raise UnreadableSources("\n".join(refusals))
    return submissions


def read_sources(path: Path, problem: Expected) -> dict[str, bytes]:
    """The files at `path` by name: a file is taken for the problem's main file.

    A folder gives the Python modules directly in it. Reading stops one byte above the problem's
    limit, so that the judge can refuse what is too large without anybody holding it. Raises
    `UnreadableSources`.
    """
    try:
        if path.is_dir():
            return _read_folder(path, problem)
        if path.exists() and not path.is_file():
            raise UnreadableSources(f"{path}: not a regular file. {_remedy(problem)}")
        return {problem.main_file: _read_file(path, problem.limits.source_bytes + 1)}
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        named = error.filename or path
        raise UnreadableSources(f"{named}: {reason}. {_remedy(problem)}") from None


def read_tests(path: Path, problem: Expected) -> dict[str, bytes]:
    """The files of tests at `path`, as they are handed in: `tests/test_....py`.

    A folder gives those directly in it or, when there is none, in its `tests`. As much is read as
    `read_sources` would read. Raises `UnreadableSources`.
    """
    try:
        paths = _tests_at(path)
        files: dict[str, bytes] = {}
        for each in paths:
            name = f"{TESTS_FOLDER}/{each.name}"
            if not is_tests_file(name):
                raise UnreadableSources(f"{each}: tests are called test_....py. Rename the file.")
            room = problem.limits.source_bytes + 1 - source_size(files)
            files[name] = _read_file(each, max(room, 0))
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        named = error.filename or path
        raise UnreadableSources(f"{named}: {reason}. {_TESTS_REMEDY}") from None
    return files


def left_out(path: Path) -> list[str]:
    """Names of what a folder holds and `read_sources` does not take, but for hidden and caches."""
    if not path.is_dir():
        return []
    return [
        f"{entry.name}/" if entry.is_dir() else entry.name
        for entry in sorted(path.iterdir())
        if not _is_taken(entry) and not entry.name.startswith((".", "__pycache__"))
    ]


def source_size(files: Mapping[str, bytes]) -> int:
    """Size of a submission in bytes, as the limit counts it."""
    return sum(len(source) for source in files.values())


def _tests_at(path: Path) -> list[Path]:
    path.stat()  # raises where nothing is
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UnreadableSources(f"{path}: not a regular file. {_TESTS_REMEDY}")
    for folder in (path, path / TESTS_FOLDER):
        if found := sorted(folder.glob("test_*.py")):
            return found
    raise UnreadableSources(f"{path}: no test_....py in this folder. {_TESTS_REMEDY}")


def _is_taken(entry: Path) -> bool:
    return entry.suffix == ".py" and entry.is_file()


def _remedy(problem: Expected) -> str:
    return f"Name a file that can be read, or a folder that holds {problem.main_file}."


def _read_folder(folder: Path, problem: Expected) -> dict[str, bytes]:
    paths = sorted(path for path in folder.iterdir() if _is_taken(path))
    if problem.main_file not in {path.name for path in paths}:
        raise UnreadableSources(f"{folder}: no {problem.main_file} in this folder. Put it there.")
    files: dict[str, bytes] = {}
    for path in paths:
        if not _MODULE_NAME.fullmatch(path.name):
            raise UnreadableSources(f"{path}: this name cannot be imported. Rename the file.")
        room = problem.limits.source_bytes + 1 - source_size(files)
        files[path.name] = _read_file(path, max(room, 0))
    return files


def _read_file(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except OSError as error:  # which names no file when opening went well
        raise OSError(error.errno, error.strerror, str(path)) from None
