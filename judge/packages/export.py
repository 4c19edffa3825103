"""An exercise as a package: translated where the format has a place, and whole below `judge/`.

`Export.lost` says in words what a reader of the format will not see. Wrong solutions go to
`submissions/rejected`, unless somebody judged them and knows how they fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import PurePosixPath
from uuid import UUID, uuid5

from judge.inspection import CONTRACT, EDITORIAL, NEEDS, PACKAGES, PROVIDED, REFERENCE, STATEMENT
from judge.packages.archive import METADATA
from judge.packages.metadata import FORMAT, Metadata, PackageLimits, metadata_text
from judge.problem import Problem, load_problem
from judge.verdicts import Verdict

OWN_EXERCISE = "judge/exercise"
OWN_NEEDS = "judge/needs"
OWN_PACKAGES = "judge/packages"
STATEMENT_FILE = "statement/problem.en.md"
SOLUTION_FILE = "solution/solution.en.md"
ATTACHMENTS = "attachments"
SUBMISSIONS = "submissions"
REJECTED_FOLDER = "rejected"
FOLDERS_BY_VERDICT = {
    Verdict.WA: "wrong_answer",
    Verdict.RE: "run_time_error",
    Verdict.TLE: "time_limit_exceeded",
}
_EXERCISES = UUID("7d3d3fc5-5f0e-4d0b-9c53-6f2f5f5f8f1a")  # the namespace of slugs
_TITLE_LINE = re.compile(r"\A# .*\n+")


@dataclass(frozen=True)
class WrongSolution:
    """A solution that `tier` must reject; `name` is the file it becomes."""

    name: str
    tier: str
    source: bytes


@dataclass(frozen=True)
class Export:
    """A package: what it calls itself, its files by path, and what did not fit, a line for each."""

    name: str
    files: Mapping[str, bytes]
    lost: tuple[str, ...]


def package_name(slug: str) -> str:
    """What a package of this exercise is called: the format takes letters and digits only."""
    return slug.replace("-", "")


def wrong_solutions(problem: Problem) -> tuple[WrongSolution, ...]:
    """The kept wrong solutions and the named mutants, which are the reference with one mistake.

    Those that only an advisory tier finds wrong are accepted, and not among them.
    """
    kept = (
        (tier, f"{tier}-{PurePosixPath(each.name).stem}", each.source)
        for each in problem.rejected
        if (tier := each.tier) is not None
    )
    mutants = (
        (each.tier, f"{each.tier}-mutant-{each.id}", problem.mutate(each))
        for each in problem.mutants
    )
    taken: set[str] = set()
    return tuple(
        WrongSolution(_free(f"{name}.py", taken), tier, source)
        for tier, name, source in (*kept, *mutants)
        if tier not in problem.advisory
    )


def export_problem(problem: Problem, verdicts: Mapping[str, Verdict] | None = None) -> Export:
    """The package of an exercise. Raises `ProblemError` when one that it needs is not valid.

    `verdicts` are what the wrong solutions get, by name, where they have been judged.
    """
    files = {
        METADATA: metadata_text(_metadata(problem)).encode(),
        STATEMENT_FILE: _statement(problem),
        **dict(_attachments(problem)),
        **dict(_submissions(problem, verdicts or {})),
        **dict(_whole(problem)),
    }
    if EDITORIAL in problem.contents:
        files[SOLUTION_FILE] = problem.contents[EDITORIAL]
    lost = tuple(_lost(problem, judged=verdicts is not None))
    files["README.md"] = _readme(problem, lost).encode()
    return Export(package_name(problem.slug), files, lost)


def own_files(problem: Problem) -> dict[str, bytes]:
    """The files of an exercise's own folder."""
    return {
        name: data
        for name, data in problem.contents.items()
        if not name.startswith((f"{PACKAGES}/", f"{NEEDS}/"))
    }


# --- what the format has a place for --------------------------------------------------------------


def _metadata(problem: Problem) -> Metadata:
    limits = problem.limits
    return Metadata(
        problem_format_version=FORMAT,
        name=problem.manifest.title,
        uuid=str(uuid5(_EXERCISES, problem.slug)),
        version=problem.version,
        source=list(problem.manifest.sources) or None,
        limits=PackageLimits(
            time_limit=limits.wall_s,
            memory=ceil(limits.memory_bytes / (1 << 20)),
            output=ceil(limits.output_bytes / (1 << 20)),
            code=ceil(limits.source_bytes / (1 << 10)),
        ),
        keywords=list(problem.manifest.tags) or None,
        languages=["python3"],
    )


def _statement(problem: Problem) -> bytes:
    """The statement without its title, which every reader puts there himself."""
    return _TITLE_LINE.sub("", problem.contents[STATEMENT].decode()).encode()


def _attachments(problem: Problem) -> Iterator[tuple[str, bytes]]:
    """What a student is given: the files to begin with, the contract, what is provided."""
    for file in problem.files:
        yield f"{ATTACHMENTS}/{file.name}", problem.starter(file)
    for name in (CONTRACT, PROVIDED):
        if name in problem.contents:
            yield f"{ATTACHMENTS}/{name}", problem.contents[name]


def _submissions(problem: Problem, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[str, bytes]]:
    wrong = wrong_solutions(problem)
    taken = {each.name for each in wrong}
    reference = _free(REFERENCE, taken)
    yield f"{SUBMISSIONS}/accepted/{reference}", problem.reference
    for each in problem.accepted:
        name = _free(PurePosixPath(each.name).name, taken)
        yield f"{SUBMISSIONS}/accepted/{name}", each.source
    for solution in wrong:
        folder = FOLDERS_BY_VERDICT.get(verdicts.get(solution.name, Verdict.SK), REJECTED_FOLDER)
        yield f"{SUBMISSIONS}/{folder}/{solution.name}", solution.source
    model = f"accepted/{reference}:\n  model_solution: true\n"
    yield f"{SUBMISSIONS}/submissions.yaml", model.encode()


def _free(name: str, taken: set[str]) -> str:
    """`name`, or one like it that nobody has: a package may not hold two programs of one name."""
    stem, found, number = PurePosixPath(name).stem, name, 1
    while found in taken:
        number += 1
        found = f"{stem}-{number}.py"
    taken.add(found)
    return found


# --- the exercise as it is ------------------------------------------------------------------------


def _whole(problem: Problem) -> Iterator[tuple[str, bytes]]:
    """The exercise's own files, and those of what it needs, so that it can be judged elsewhere."""
    yield from _below(f"{OWN_EXERCISE}/{problem.slug}", own_files(problem).items())
    around = {each.slug: each for each in _needed(problem)}
    for slug in sorted(around):
        yield from _below(f"{OWN_NEEDS}/{slug}", own_files(around[slug]).items())
    for each in (problem, *around.values()):
        modules = (found for found in each.contents.items() if found[0].startswith(f"{PACKAGES}/"))
        yield from ((f"judge/{name}", data) for name, data in modules)


def _needed(problem: Problem) -> Iterator[Problem]:
    """The exercises that it builds on, and those that they do, each once."""
    seen, waiting = {problem.slug}, list(problem.manifest.needs)
    while waiting:
        slug = waiting.pop(0)
        if slug not in seen:
            seen.add(slug)
            needed = load_problem(problem.folder.parent / slug)
            waiting += needed.manifest.needs
            yield needed


def _below(folder: str, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    yield from ((f"{folder}/{name}", data) for name, data in files)


# --- what it has no place for ---------------------------------------------------------------------


def _lost(problem: Problem, *, judged: bool) -> Iterator[str]:
    """What a reader of the format will not see, in words."""
    manifest = problem.manifest
    names = ", ".join(f"`{name}`" for name in manifest.entry_points)
    yield (
        f"Solutions define {names} and are called; the format runs programs that read standard "
        "input. No program that runs packages can run these."
    )
    yield (
        "Checks are Python functions that compare arrays, so there are no data and no validators, "
        "which the format demands: `verifyproblem` will say so."
    )
    tiers = ", ".join(tier.id for tier in problem.tiers)
    yield (
        f"Tiers ({tiers}): the format has one verdict for all. The name of a wrong solution begins "
        "with the tier that must reject it."
    )
    yield (
        f"Limits: {problem.limits.wall_s:g} s are for one tier, not for one program; there is no "
        "place for processor time; bytes are rounded up to MiB and KiB."
    )
    if problem.advisory:
        ids = ", ".join(sorted(problem.advisory))
        yield (
            f"What is advisory ({ids}) has no place: solutions that fail nowhere else are accepted "
            "and left out of `submissions`."
        )
    if not judged:
        yield (
            "Wrong solutions are in `rejected`, which says that they fail, not how. With --judge "
            "they are sorted by the verdict that they get."
        )
    yield "Mutants are whole solutions here; their symptoms and hints have no place."
    yield "Author and licence: an exercise does not name them. Add them to problem.yaml."
    parts = {
        "hints": manifest.hints,
        "takeaways": manifest.takeaways,
        "examples": manifest.examples,
        "names that a solution may not use": manifest.forbidden,
        "students' own tests and their grades": manifest.tests,
        "the card of the course": manifest.course,
        "exercises and packages that it needs": (*manifest.needs, *manifest.packages),
    }
    there = [words for words, part in parts.items() if part]
    yield f"No place either: {', '.join([*there, 'charts, which checks draw'])}."


def _readme(problem: Problem, lost: Iterable[str]) -> str:
    lines = "\n".join(f"- {line}" for line in lost)
    return (
        f"# {problem.manifest.title}\n\n"
        f"An exercise for machine learning in the layout of a problem package, version {FORMAT}.\n"
        f"The exercise itself is in `{OWN_EXERCISE}/{problem.slug}`, as it was, and what it needs "
        "beside it.\n`judge import` takes it out again.\n\n"
        f"What did not fit into the rest of the package:\n\n{lines}\n"
    )
