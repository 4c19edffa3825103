"""What a student has passed, and grades of tests, kept in the student's folder.

The folder is the student's own, so all of this is for their convenience and proves nothing to
anybody else: a course that grades asks its server.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from judge.problem import Problem, content_hash
from judge.results import Record, Result

PASSES = "passes.json"
GRADES = "grades"


class Pass(Record):
    """An exercise whose solution was accepted, and its tests where it takes any.

    Both are the SHA-256 of what was accepted last; "" for never.
    """

    solution: str = ""
    tests: str = ""


class _Book(Record):
    passes: dict[str, Pass] = {}


class Passes:
    """The passes remembered in the folder `state`; a file that cannot be read counts as empty."""

    def __init__(self, state: Path) -> None:
        self._path = state / PASSES
        try:
            self._passes = dict(_Book.model_validate_json(self._path.read_bytes()).passes)
        except (OSError, ValidationError):
            self._passes = {}

    def of(self, slug: str) -> Pass:
        """What is remembered of an exercise."""
        return self._passes.get(slug, Pass())

    def is_passed(self, problem: Problem) -> bool:
        """Whether the exercise was ever accepted, with its tests where it takes any."""
        known = self.of(problem.slug)
        return bool(known.solution) and (bool(known.tests) or not problem.takes_tests)

    def note(self, slug: str, kind: str, files: Mapping[str, bytes]) -> None:
        """Remember that these files were accepted; `kind` is "solution" or "tests"."""
        self._passes[slug] = self.of(slug).model_copy(update={kind: content_hash(files)})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(_Book(passes=self._passes).model_dump_json(indent=1), encoding="utf-8")
        new.replace(self._path)


class Grades:
    """Results on students' tests, kept in the folder `state` by tests and problem version."""

    def __init__(self, state: Path) -> None:
        self._folder = state / GRADES

    def find(self, problem: Problem, tests: Mapping[str, bytes]) -> Result | None:
        """The result on exactly these tests and this version; None when there is none."""
        try:
            return Result.model_validate_json(self._path(problem, tests).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, problem: Problem, tests: Mapping[str, bytes], result: Result) -> None:
        """Remember a result."""
        path = self._path(problem, tests)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(result.model_dump_json(), encoding="utf-8")

    def _path(self, problem: Problem, tests: Mapping[str, bytes]) -> Path:
        key = hashlib.sha256(f"{problem.version} {content_hash(tests)}".encode()).hexdigest()
        return self._folder / f"{key}.json"
