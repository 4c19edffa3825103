"""Where the files of an exercise stand in a student's folder.

A solution that is a module stands at its place in the package (``package/part.py``), any other
in a folder of the exercise's name. The contract stands beside it, and the student's own tests in
``tests/<exercise>/``. Packages that an exercise can import are laid out as well, so that ordinary
tools find them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge.inspection import CONTRACT, PROVIDED
from judge.manifest import ProblemFile
from judge.problem import Problem
from judge.sources import TESTS_FOLDER, read_sources, read_tests

STATE = ".judge"  # what the judge remembers in the folder


class NothingStarted(Exception):
    """A file of the exercise is not in the folder; the message says what to do."""


@dataclass(frozen=True)
class Placed:
    """A file of an exercise, and whether it was written now or had been there before."""

    path: Path
    is_new: bool


@dataclass(frozen=True)
class Workspace:
    """The folder `root`."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> Workspace:
        """The workspace that `folder` is in; a new one at `folder` when there is none."""
        inside = (each for each in (folder, *folder.parents) if (each / STATE).is_dir())
        return cls(next(inside, folder))

    @property
    def state(self) -> Path:
        """The folder of what is remembered."""
        return self.root / STATE

    def start(self, problem: Problem) -> list[Placed]:
        """Write what the exercise begins with; what is there already stays as it is."""
        self.state.mkdir(parents=True, exist_ok=True)
        return [_place(self.root / path, content) for path, content in self._beginning(problem)]

    def solution(self, problem: Problem) -> Path:
        """Where the main file stands."""
        return self.root / _solution_path(problem, problem.files[0])

    def tests_folder(self, problem: Problem) -> Path:
        """Where the student's own tests stand."""
        return self.root / TESTS_FOLDER / problem.slug

    def read_solution(self, problem: Problem) -> dict[str, bytes]:
        """The files of the student's solution by name.

        Raises `NothingStarted`, `UnreadableSources`.
        """
        return {
            file.name: _read(self.root / _solution_path(problem, file), problem)
            for file in problem.files
            if file.role == "solution"
        }

    def read_tests(self, problem: Problem) -> dict[str, bytes]:
        """The student's own tests by name. Raises `NothingStarted`, `UnreadableSources`."""
        folder = self.tests_folder(problem)
        if not folder.is_dir():
            words = f"{folder}: there are no tests here yet."
            raise NothingStarted(f"{words} `judge start {problem.slug}` writes the first.")
        return read_tests(folder, problem)

    def _beginning(self, problem: Problem) -> Iterator[tuple[str, bytes]]:
        for file in problem.files:
            path = (
                _solution_path(problem, file) if file.role == "solution" else _tests(problem, file)
            )
            yield path, problem.starter(file)
        main = PurePosixPath(_solution_path(problem, problem.files[0]))
        yield str(main.with_suffix(".pyi")), problem.contents[CONTRACT]
        if problem.provided is not None:
            yield str(main.with_name(PROVIDED)), problem.provided
        yield from _packages(problem)


def _solution_path(problem: Problem, file: ProblemFile) -> str:
    if file.module is not None:
        return f"{file.module.replace('.', '/')}.py"
    return f"{problem.slug}/{file.name}"


def _tests(problem: Problem, file: ProblemFile) -> str:
    return f"{TESTS_FOLDER}/{problem.slug}/{PurePosixPath(file.name).name}"


def _packages(problem: Problem) -> Iterator[tuple[str, bytes]]:
    """The packages, without the solutions of other chapters: those are the student's to write."""
    library: Mapping[str, bytes] = problem.setting.library
    yield from ((path, library[path]) for path in library if path not in problem.needed_modules)


def _place(path: Path, content: bytes) -> Placed:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return Placed(path, is_new=False)
    return Placed(path, is_new=True)


def _read(path: Path, problem: Problem) -> bytes:
    if not path.exists():
        words = f"{path}: there is nothing here yet. `judge start {problem.slug}` begins."
        raise NothingStarted(words)
    return read_sources(path, problem)[problem.main_file]
