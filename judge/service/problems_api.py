"""The catalogue and the page of one exercise.

What must not be told is never put into an answer: the sources of the checks, the mutants and the
oracle stay in the problem's folder and the boxes, and the reference does until it was solved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from fastapi import APIRouter, Request, Response

from judge.grader.messages import CheckCard
from judge.inspection import CONTRACT, EDITORIAL, PROVIDED, STATEMENT
from judge.manifest import Example, Tier
from judge.problem import Problem
from judge.service.bank import Bank
from judge.service.errors import ErrorKind, Refusal
from judge.service.identity import hand_out_cookie
from judge.service.models import (
    BrokenFolder,
    Catalogue,
    CheckToPass,
    EditorialStep,
    FaultCard,
    FileToWrite,
    OwnTestsCard,
    Preview,
    ProblemCard,
    ProblemPage,
    Provided,
    RunnableExample,
    Solution,
    TierName,
    TierToPass,
    TrackCard,
    TrackPlace,
    refusals,
)
from judge.service.parts import Student, TheParts
from judge.service.progress import is_solved, pass_rate, progress, standings_of, unmet_needs
from judge.service.records import Facts, Standing, Tried
from judge.service.statement import render, render_inline, sections

router = APIRouter(prefix="/api/problems", tags=["problems"])


def find_problem(parts: TheParts, slug: str) -> Problem:
    """The problem of that name; raises `Refusal`."""
    problem = parts.bank.current(slug)
    if problem is None:
        detail = f"There is no exercise {slug[:80]!r}; GET /api/problems lists them."
        raise Refusal(ErrorKind.UNKNOWN_EXERCISE, detail)
    return problem


@router.get(
    "",
    summary="All exercises, by track",
    responses=refusals(ErrorKind.BAD_CREDENTIALS, ErrorKind.DATABASE_AWAY),
)
async def list_problems(
    parts: TheParts, student: Student, request: Request, response: Response
) -> Catalogue:
    """The catalogue. Folders that are not valid are listed for local students only."""
    standings, rates = await standings_of(parts, student), await parts.rates.current()
    hand_out_cookie(request, response, student)
    return Catalogue(
        tracks=[TrackCard(**track.model_dump()) for track in parts.bank.tracks()],
        problems=[
            _card(problem, parts.bank, standings.get(problem.slug), rates.get(problem.slug))
            for problem in parts.bank.all()
        ],
        broken=[
            BrokenFolder(slug=broken.slug, faults=list(map(FaultCard.of, broken.faults)))
            for broken in parts.bank.broken()
            if student.local
        ],
        author=parts.author.slug if parts.author else None,
    )


@router.get(
    "/{slug}",
    summary="One exercise: statement, files, tiers, limits, preview",
    responses=refusals(
        ErrorKind.BAD_CREDENTIALS, ErrorKind.UNKNOWN_EXERCISE, ErrorKind.INVALID,
        ErrorKind.DATABASE_AWAY,
    ),
)  # fmt: skip
async def get_problem(
    slug: str, parts: TheParts, student: Student, request: Request, response: Response
) -> ProblemPage:
    """The page of an exercise. Checks and preview are there once a worker has read the version."""
    problem = find_problem(parts, slug)
    facts = (await parts.store.facts([problem.version])).get(problem.version)
    wanted = "" if problem.manifest.needs else slug
    standings, rates = await standings_of(parts, student, wanted), await parts.rates.current()
    statement = problem.contents[STATEMENT].decode("utf-8", "replace")
    statement_html = await asyncio.to_thread(render, statement)
    examples = await asyncio.to_thread(lambda: list(map(_example, problem.manifest.examples)))
    hand_out_cookie(request, response, student)
    manifest = problem.manifest
    track = parts.bank.track(manifest.track)
    return ProblemPage(
        slug=problem.slug,
        title=manifest.title,
        summary=manifest.summary,
        track=TrackPlace(id=track.id, title=track.title, number=manifest.number),
        tags=list(manifest.tags),
        statement_html=statement_html,
        hints=list(manifest.hints),
        files=[
            FileToWrite(name=file.name, role=file.role, starter=_text(problem.starter(file)))
            for file in problem.files
        ],
        provided=_provided(problem),
        contract=_text(problem.contents[CONTRACT]),
        entry_points=list(manifest.entry_points),
        tiers=[_tier(tier, facts) for tier in problem.tiers],
        limits=problem.limits,
        sources=list(manifest.sources),
        needs=parts.bank.needs(problem),
        used_by=parts.bank.used_by(problem),
        unmet_needs=[need.slug for need in unmet_needs(problem, parts.bank, standings)],
        rules=[entry.rule for entry in manifest.forbidden],
        course=manifest.course,
        takeaways=list(manifest.takeaways),
        examples=examples,
        own_tests=_own_tests(problem),
        progress=progress(problem, standings.get(slug)),
        pass_rate=pass_rate(problem, rates.get(slug)),
        preview=_preview(facts),
        version=problem.version,
    )


@router.get(
    "/{slug}/solution",
    summary="The reference and the editorial, for whoever has solved the exercise",
    responses=refusals(
        ErrorKind.BAD_CREDENTIALS, ErrorKind.NOT_SOLVED, ErrorKind.UNKNOWN_EXERCISE,
        ErrorKind.INVALID, ErrorKind.DATABASE_AWAY,
    ),
)  # fmt: skip
async def get_solution(slug: str, parts: TheParts, student: Student) -> Solution:
    """What solving it unlocks, for good: all tiers, and where it takes tests, those too."""
    problem = find_problem(parts, slug)
    if not is_solved(problem, (await standings_of(parts, student, slug)).get(slug)):
        detail = "This opens once a submission of yours is accepted at all tiers"
        detail += ", and your own tests are as well." if problem.takes_tests else "."
        raise Refusal(ErrorKind.NOT_SOLVED, detail)
    editorial = problem.contents.get(EDITORIAL, b"").decode("utf-8", "replace")
    return Solution(
        files={problem.main_file: _text(problem.reference)},
        editorial=await asyncio.to_thread(lambda: list(_steps(editorial))),
    )


def _steps(editorial: str) -> Iterator[EditorialStep]:
    """An editorial by its `##` headings; what stands before the first is a step without a title."""
    for title, body in sections(editorial):
        yield EditorialStep(title_html=render_inline(title), html=render(body))


# --- parts of the answers -------------------------------------------------------------------------


def _card(
    problem: Problem, bank: Bank, standing: Standing | None, tried: Tried | None
) -> ProblemCard:
    manifest = problem.manifest
    return ProblemCard(
        slug=problem.slug,
        title=manifest.title,
        summary=manifest.summary,
        track=manifest.track,
        number=manifest.number,
        label=manifest.course.module if manifest.course else str(manifest.number),
        tags=list(manifest.tags),
        tiers=[
            TierName(id=tier.id, title=tier.title, advisory=tier.advisory) for tier in problem.tiers
        ],
        needs=bank.needs(problem),
        used_by=bank.used_by(problem),
        progress=progress(problem, standing),
        pass_rate=pass_rate(problem, tried),
        version=problem.version,
    )


def _provided(problem: Problem) -> Provided | None:
    if problem.provided is None:
        return None
    names = list(problem.manifest.provided_names)
    return Provided(name=PROVIDED, source=_text(problem.provided), names=names)


def _example(example: Example) -> RunnableExample:
    return RunnableExample(
        title=example.title,
        code=example.code,
        output=example.output,
        reasoning_html=render(example.reasoning),
    )


def _own_tests(problem: Problem) -> OwnTestsCard | None:
    own = problem.manifest.tests
    if own is None:
        return None
    return OwnTestsCard(
        imports=list(own.imports),
        threshold=own.threshold,
        mutants=len(problem.graded_mutants),
        must_kill=len(problem.must_kill),
    )


def _tier(tier: Tier, facts: Facts | None) -> TierToPass:
    return TierToPass(
        id=tier.id,
        title=tier.title,
        about=tier.about,
        requires=list(tier.requires),
        visible=tier.visible if isinstance(tier.visible, bool) else list(tier.visible),
        checks=[
            CheckToPass(id=card.id, title=card.title, kind=card.kind, why=card.why)
            for card in _checks(facts)
            if card.tier == tier.id
        ],
        advisory=tier.advisory,
    )


def _checks(facts: Facts | None) -> Sequence[CheckCard]:
    return facts.checks if facts else ()


def _preview(facts: Facts | None) -> Preview:
    if facts is None:
        return Preview(state="pending", charts=[])
    return Preview(state="failed" if facts.broken else "ready", charts=list(facts.charts))


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")
