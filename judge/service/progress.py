"""How far a student has come, and what that opens or demands.

An exercise is solved by a solution accepted at all tiers; where it takes tests of the student's own
these must have been accepted as well, before or after. An exercise that is judged on top of others
(they are its `needs`, and their solutions are modules) takes the student's own solutions of them,
so they must be solved first, unless the student asks for the references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judge.problem import Problem
from judge.service.bank import Bank
from judge.service.errors import ErrorKind, Refusal
from judge.service.identity import Identity
from judge.service.models import PassRate, Progress
from judge.service.parts import Parts
from judge.service.records import Standing, Tried

Standings = Mapping[str, Standing]


async def standings_of(parts: Parts, student: Identity, problem: str = "") -> Standings:
    """What the student has done; of somebody known by an address only, nobody knows."""
    return await parts.store.standings(student.student, problem) if student.credentialed else {}


def is_solved(problem: Problem, standing: Standing | None) -> bool:
    """Whether nothing is left to do."""
    if standing is None or not standing.accepted:
        return False
    return not problem.takes_tests or standing.tests == "passed"


def progress(problem: Problem, standing: Standing | None) -> Progress:
    """How far the student has come, as an answer says it."""
    tests = "untouched" if problem.takes_tests else None
    if standing is None:
        return Progress(tests=tests)
    return Progress(
        state="solved" if is_solved(problem, standing) else "failed",
        tests=standing.tests if problem.takes_tests else None,
        failed_tier=None if standing.accepted else standing.failed_tier,
        submissions=standing.submissions,
        last_at=standing.last_at,
    )


def pass_rate(problem: Problem, tried: Tried | None) -> PassRate | None:
    """How many of those who tried have solved it."""
    if tried is None:
        return None
    solved = tried.with_tests if problem.takes_tests else tried.accepted
    return PassRate(tried=tried.tried, solved=solved)


# --- what an exercise is judged on top of ---------------------------------------------------------


def unmet_needs(problem: Problem, bank: Bank, standings: Standings) -> list[Problem]:
    """The exercises that the student still has to solve first."""
    needed = _needed(problem, bank)
    return [need for need, _ in needed if not is_solved(need, standings.get(need.slug))]


async def needed_files(parts: Parts, student: Identity, problem: Problem) -> dict[str, bytes]:
    """What the student wrote for the exercises that this one builds on, by path in its library.

    What such a solution was itself judged on top of comes with it. Raises `Refusal` while one of
    them is not solved.
    """
    needed = list(_needed(problem, parts.bank))
    if not needed:
        return {}
    unmet = unmet_needs(problem, parts.bank, await standings_of(parts, student))
    found: dict[str, bytes] = {}
    own: dict[str, bytes] = {}
    for need, path in needed:
        files = await parts.store.accepted_sources(student.student, need.slug)
        if need.main_file in files:
            own[path] = files[need.main_file]
        elif need not in unmet:  # solved when its file had another name
            unmet.append(need)
        found |= {name: files[name] for name in problem.needed_modules if name in files}
    if unmet:
        raise Refusal(ErrorKind.NEEDS_UNMET, _demand([need.label for need in unmet]))
    return found | own


def _needed(problem: Problem, bank: Bank) -> Iterator[tuple[Problem, str]]:
    """The exercises whose solutions are modules for this one, with the path of each."""
    for slug in problem.manifest.needs:
        need, path = bank.current(slug), problem.module_of_need(slug)
        if need is not None and path is not None:
            yield need, path


def _demand(names: list[str]) -> str:
    if len(names) == 1:
        are, them = f"{names[0]} is", "it"
    else:
        are, them = f"{', '.join(names[:-1])} and {names[-1]} are", "them"
    return f"{are} not passed yet; pass {them}, or send ref_deps to build on the reference."
