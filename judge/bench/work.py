"""What is measured: a problem's reference, all its checks, and submissions with known verdicts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.problem import Problem

FOLDER_MODE = 0o755  # containers read it as another user


@dataclass(frozen=True)
class Answer:
    """A submission whose verdict is known: `rejected_at` is the first tier it fails, or None.

    What becomes of it in tiers that are `advisory` is not known: there it is measured.
    """

    name: str
    files: dict[str, bytes]
    rejected_at: str | None
    advisory: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Work:
    """A problem, and a copy of its folder where runs of its checks may leave bytecode."""

    problem: Problem
    folder: Path
    solution: Path

    @property
    def checks(self) -> Path:
        """The folder of the checks."""
        return self.folder / "checks"

    @property
    def reference(self) -> Answer:
        """The right answer."""
        return self._answer("reference", self.problem.reference, None)

    def answers(self) -> list[Answer]:
        """Right and wrong in turns, each wrong one once.

        Wrong ones that fail the first tier are left out: the others are not even run on them, so
        they would flatter the rate. So are those that only an advisory tier finds wrong.
        """
        left_out = {self.problem.tiers[0].id, *self.problem.advisory}
        turns: list[Answer] = []
        for wrong in self.problem.rejected:
            if wrong.tier not in left_out:
                turns += [self.reference, self._answer(wrong.name, wrong.source, wrong.tier)]
        return turns or [self.reference]

    def _answer(self, name: str, source: bytes, rejected_at: str | None) -> Answer:
        files = {self.problem.main_file: source}
        return Answer(name, files, rejected_at, self.problem.advisory)


@contextmanager
def laid_out(problem: Problem) -> Iterator[Work]:
    """A copy of the problem in a temporary folder."""
    with TemporaryDirectory(prefix="judge-bench-") as temporary:
        root = Path(temporary)
        root.chmod(FOLDER_MODE)
        folder = root / problem.slug
        for name, content in problem.contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        solution = root / problem.main_file
        shutil.copyfile(folder / "reference.py", solution)
        yield Work(problem, folder, solution)
