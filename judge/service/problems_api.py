"""The catalogue and the page of one exercise.

What must not be told is never put into an answer: the reference, the sources of the checks, the
mutants and the oracle stay in the problem's folder and the boxes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from judge.grader.messages import CheckCard
from judge.inspection import CONTRACT, PROVIDED, STATEMENT
from judge.manifest import Fault, Tier
from judge.problem import Problem
from judge.service.errors import ErrorKind, Refusal
from judge.service.identity import hand_out_cookie
from judge.service.models import (
    BrokenFolder,
    Catalogue,
    CheckToPass,
    FaultCard,
    FileToWrite,
    Preview,
    ProblemCard,
    ProblemPage,
    Provided,
    TierName,
    TierToPass,
    TrackCard,
    TrackPlace,
    refusals,
)
from judge.service.parts import Student, TheParts
from judge.service.records import Facts
from judge.service.statement import render

router = APIRouter(prefix="/api/problems", tags=["problems"])


def find_problem(parts: TheParts, slug: str) -> Problem:
    """The problem of that name; raises `Refusal`."""
    problem = parts.bank.current(slug)
    if problem is None:
        detail = f"There is no exercise {slug[:80]!r}; GET /api/problems lists them."
        raise Refusal(ErrorKind.UNKNOWN_EXERCISE, detail)
    return problem


@router.get("", summary="All exercises, by track", responses=refusals(ErrorKind.BAD_CREDENTIALS))
async def list_problems(
    parts: TheParts, student: Student, request: Request, response: Response
) -> Catalogue:
    """The catalogue. Folders that are not valid are listed for local students only."""
    hand_out_cookie(request, response, student)
    return Catalogue(
        tracks=[TrackCard(**track.model_dump()) for track in parts.bank.tracks()],
        problems=[_card(problem) for problem in parts.bank.all()],
        broken=[
            BrokenFolder(slug=broken.slug, faults=[_fault(each) for each in broken.faults])
            for broken in parts.bank.broken()
            if student.local
        ],
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
    statement = problem.contents[STATEMENT].decode("utf-8", "replace")
    statement_html = await asyncio.to_thread(render, statement)
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
        needs=[],
        used_by=[],
        preview=_preview(facts),
        version=problem.version,
    )


# --- parts of the answers -------------------------------------------------------------------------


def _card(problem: Problem) -> ProblemCard:
    manifest = problem.manifest
    return ProblemCard(
        slug=problem.slug,
        title=manifest.title,
        summary=manifest.summary,
        track=manifest.track,
        number=manifest.number,
        tags=list(manifest.tags),
        tiers=[TierName(id=tier.id, title=tier.title) for tier in problem.tiers],
        version=problem.version,
    )


def _fault(fault: Fault) -> FaultCard:
    return FaultCard(
        file=str(fault.file), line=fault.line, message=fault.message, remedy=fault.remedy
    )


def _provided(problem: Problem) -> Provided | None:
    if problem.provided is None:
        return None
    names = list(problem.manifest.provided_names)
    return Provided(name=PROVIDED, source=_text(problem.provided), names=names)


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
    )


def _checks(facts: Facts | None) -> Sequence[CheckCard]:
    return facts.checks if facts else ()


def _preview(facts: Facts | None) -> Preview:
    if facts is None:
        return Preview(state="pending", charts=[])
    return Preview(state="failed" if facts.broken else "ready", charts=list(facts.charts))


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")
