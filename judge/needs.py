"""What exercises build on: `needs` of one names others, and together they must be a graph.

Each folder is valid or not by itself; whether what it needs is there only all of them can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from judge.inspection import MANIFEST
from judge.manifest import Fault
from judge.problem import Problem
from judge.toml_source import TomlSource


def needs_faults(
    problems: Mapping[str, Problem], known: Collection[str]
) -> dict[str, tuple[Fault, ...]]:
    """What is wrong with the needs of `problems`, by slug; those without fault are left out.

    `known` are the slugs of all folders, valid or not: who needs a broken one is not at fault.
    """
    found = {slug: tuple(_faults(problem, problems, known)) for slug, problem in problems.items()}
    return {slug: faults for slug, faults in found.items() if faults}


def _faults(
    problem: Problem, problems: Mapping[str, Problem], known: Collection[str]
) -> Iterator[Fault]:
    for need in problem.manifest.needs:
        if need not in known:
            yield _fault(
                problem, f"`needs` names {need!r}, which is no exercise", "correct the name"
            )
        elif (path := _way_back(need, problem.slug, problems)) is not None:
            circle = " -> ".join((problem.slug, *path))
            yield _fault(
                problem,
                f"`needs` goes in a circle: {circle}",
                "remove one of them: what comes first in a course needs nothing that comes later",
            )


def _way_back(start: str, goal: str, problems: Mapping[str, Problem]) -> tuple[str, ...] | None:
    """How `goal` is needed by `start`, by way of what; None when it is not."""
    waiting: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while waiting:
        path = waiting.pop(0)
        if path[-1] == goal:
            return path
        problem = problems.get(path[-1])
        for need in problem.manifest.needs if problem else ():
            if need not in seen:
                seen.add(need)
                waiting.append((*path, need))
    return None


def _fault(problem: Problem, message: str, remedy: str) -> Fault:
    source = TomlSource.parse(problem.contents[MANIFEST].decode())
    return Fault(problem.folder / MANIFEST, source.line_of(("needs",)), message, remedy)
