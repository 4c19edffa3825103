"""Submitting, and everything about a submission.

Whoever may not see a submission is told what they would be told about one that does not exist.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Response

from judge.charts import ChartsUnavailable, Drawing, UndrawableChart, self_contained
from judge.events import StreamEvent
from judge.inspection import MANIFEST
from judge.manifest import Manifest, ProblemError, Slug, parse_file, validate
from judge.own_tests import MAX_TEST_FILES, is_tests_file
from judge.problem import Problem, content_hash
from judge.results import SEED_BITS, Chart, Kind, Result, State
from judge.scratch import SCRATCH_FILE, takes_scratch
from judge.service.errors import ErrorKind, Refusal
from judge.service.folding import unfinished
from judge.service.identity import Identity
from judge.service.models import (
    ACCEPTED,
    STREAM_ITEM,
    AcceptedSubmission,
    Documented,
    History,
    HistoryEntry,
    JudgingEntry,
    Judgings,
    SubmissionRequest,
    SubmittedFiles,
    refusals,
)
from judge.service.parts import Parts, Student, TheParts
from judge.service.problems_api import find_problem
from judge.service.progress import needed_files
from judge.service.records import (
    Bounds,
    HourlyQuota,
    KeyReused,
    NewSubmission,
    QueueFull,
    Refused,
    StillJudging,
    StoredSubmission,
    StudentLimit,
)
from judge.service.stream import EventStream, frames, replayed, resume_after
from judge.settings import Settings
from judge.sources import source_size

ID_PATTERN = r"^[0-9a-f]{32}$"
_ID = re.compile(r"[0-9a-f]{32}")
_SURROGATE = re.compile("[\ud800-\udfff]")
REFUSAL_KINDS = {
    QueueFull: ErrorKind.QUEUE_FULL,
    StudentLimit: ErrorKind.TOO_MANY_WAITING,
    HourlyQuota: ErrorKind.QUOTA,
}
# A picture is drawn from numbers that a student computed; opened by itself it can do nothing.
PICTURE_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"
}
OF_ONE = (ErrorKind.BAD_CREDENTIALS, ErrorKind.UNKNOWN_SUBMISSION, ErrorKind.INVALID)
OF_ALL = (ErrorKind.BAD_CREDENTIALS, ErrorKind.INVALID, ErrorKind.DATABASE_AWAY)
OF_POSTS = (ErrorKind.CROSS_SITE, ErrorKind.TOO_LARGE, ErrorKind.WRONG_CONTENT_TYPE)

router = APIRouter(prefix="/api/submissions", tags=["submissions"])


def _documented(*kinds: ErrorKind) -> Documented:
    return refusals(*OF_ONE, ErrorKind.DATABASE_AWAY, *kinds)


# --- submitting -----------------------------------------------------------------------------------


@router.post(
    "",
    status_code=202,
    summary="Submit",
    response_description="Stored and queued: it will have a verdict",
    responses=ACCEPTED
    | refusals(
        *OF_ALL, *OF_POSTS, ErrorKind.UNREADABLE_BODY, ErrorKind.UNKNOWN_EXERCISE,
        ErrorKind.WRONG_FILES, ErrorKind.NO_TESTS, ErrorKind.NEEDS_UNMET, ErrorKind.KEY_REUSED,
        *REFUSAL_KINDS.values(),
    ),
)  # fmt: skip
async def create_submission(
    submitted: SubmissionRequest,
    parts: TheParts,
    student: Student,
    response: Response,
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[!-~]+$",
            description="the same key with the same body is the same submission, sent again",
        ),
    ] = None,
) -> AcceptedSubmission:
    """Queue a submission. Nothing is stored unless everything about the request is right."""
    received_s = time.monotonic()
    problem = find_problem(parts, submitted.problem)
    files = _checked_files(problem, submitted)
    on_top_of: dict[str, bytes] = {}
    if submitted.kind != "tests" and not submitted.ref_deps:  # tests are run on the reference
        on_top_of = await needed_files(parts, student, problem)
    new = NewSubmission(
        student=student.student,
        open=not student.credentialed,
        kind=submitted.kind,
        problem=problem.slug,
        version=problem.version,
        seed=secrets.randbits(SEED_BITS),
        files=files | on_top_of,
        request_hash=_request_hash(submitted, files),
        received_s=received_s,
        idempotency_key=idempotency_key,
    )
    try:
        with _bounded():
            accepted = await parts.store.accept(new, _bounds(parts.settings))
    except KeyReused:
        detail = "This Idempotency-Key came with another submission before. Use a new one."
        raise Refusal(ErrorKind.KEY_REUSED, detail) from None
    earlier = await parts.store.submission(accepted.id) if accepted.replayed else None
    state = earlier.judging.state if earlier else "queued"
    return _accepted(response, accepted.id, problem.slug, submitted.kind, state)


def _bounds(settings: Settings) -> Bounds:
    return Bounds(settings.queue_limit, settings.student_limit, settings.hourly_quota)


@contextmanager
def _bounded() -> Iterator[None]:
    """Say what the store refuses for now."""
    try:
        yield
    except Refused as refused:
        kind = REFUSAL_KINDS[type(refused)]
        raise Refusal(kind, str(refused), retry_after_s=refused.retry_after_s) from None


def _checked_files(problem: Problem, submitted: SubmissionRequest) -> dict[str, bytes]:
    """The files as bytes; raises `Refusal` unless they are the exercise's, and small enough.

    Text that is no Unicode becomes bytes that no compiler takes: the student is told there.
    """
    if submitted.kind == "tests":
        _check_test_names(problem, list(submitted.files))
    else:
        _check_solution_names(problem, submitted.kind, list(submitted.files))
    files = {name: text.encode("utf-8", "surrogatepass") for name, text in submitted.files.items()}
    limit = problem.limits.source_bytes
    if source_size(files) > limit:
        detail = f"The source has {source_size(files)} bytes, and {limit} are allowed. Shorten it."
        raise Refusal(ErrorKind.TOO_LARGE, detail)
    return files


def _check_solution_names(problem: Problem, kind: Kind, names: list[str]) -> None:
    wanted = list(problem.file_names)
    missing = [name for name in wanted if name not in names]
    optional = {SCRATCH_FILE} if takes_scratch(kind, wanted) else set()
    extra = [name for name in names if name not in {*wanted, *optional}]
    if not (missing or extra):
        return
    detail = f"{problem.slug} takes {_listed(wanted)} and nothing else."
    detail += f" Missing: {_listed(missing)}." if missing else ""
    detail += f" Not taken: {_listed(extra)}." if extra else ""
    if problem.takes_tests and any(map(is_tests_file, extra)):
        detail += " Tests are sent by themselves, with the kind `tests`."
    raise Refusal(ErrorKind.WRONG_FILES, detail)


def _check_test_names(problem: Problem, names: list[str]) -> None:
    if not problem.takes_tests:
        detail = f"{problem.slug} takes no tests. Send its solution, with the kind `submit`."
        raise Refusal(ErrorKind.NO_TESTS, detail)
    extra = [name for name in names if not is_tests_file(name)]
    if names and not extra and len(names) <= MAX_TEST_FILES:
        return
    detail = f"Tests are 1 to {MAX_TEST_FILES} files called 'tests/test_....py', with letters, "
    detail += "digits and underscores in their names, and nothing else."
    detail += f" Not taken: {_listed(extra)}." if extra else f" These are {len(names)}."
    raise Refusal(ErrorKind.WRONG_FILES, detail)


def _listed(names: list[str]) -> str:
    """File names for a sentence: the first few, none of them long."""
    shown = ", ".join(repr(name[:80]) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _request_hash(submitted: SubmissionRequest, files: dict[str, bytes]) -> bytes:
    """What makes two requests the same one."""
    parts = {f"file {name}": source for name, source in files.items()}
    parts |= {"problem": submitted.problem.encode(), "kind": submitted.kind.encode()}
    parts |= {"ref_deps": b""} if submitted.ref_deps else {}
    return bytes.fromhex(content_hash(parts))


def _accepted(
    response: Response, submission_id: str, problem: str, kind: Kind, state: State
) -> AcceptedSubmission:
    url = f"{router.prefix}/{submission_id}"
    response.headers["Location"] = url
    return AcceptedSubmission(
        id=submission_id, problem=problem, kind=kind, state=state, url=url, events=f"{url}/events"
    )


# --- one's own history ----------------------------------------------------------------------------


@router.get("", summary="One's own submissions, newest first", responses=refusals(*OF_ALL))
async def list_submissions(
    parts: TheParts,
    student: Student,
    problem: Annotated[Slug | None, Query(description="of this exercise only")] = None,
    before: Annotated[
        str | None, Query(pattern=ID_PATTERN, description="`next` of the part before")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> History:
    """The history of whoever asks. Somebody known by an address only has none."""
    if not student.credentialed:
        return History(submissions=[], next=None)
    found = await parts.store.history(student.student, problem, before, limit + 1)
    shown = found[:limit]
    return History(
        submissions=[_entry(each) for each in shown],
        next=shown[-1].id if len(found) > limit else None,
    )


def _entry(submission: StoredSubmission) -> HistoryEntry:
    judging = submission.judging
    return HistoryEntry(
        id=submission.id,
        problem=submission.problem,
        problem_version=judging.problem_version,
        kind=submission.kind,
        state=judging.state,
        verdict=judging.verdict,
        score=judging.score,
        failed_tier=judging.failed_tier,
        judged_ms=judging.judged_ms,
        created_at=submission.created_at,
        judgings=judging.number,
    )


# --- one submission -------------------------------------------------------------------------------


async def _find(submission_id: str, parts: TheParts, student: Student) -> StoredSubmission:
    """The submission, if whoever asks may see it."""
    if _ID.fullmatch(submission_id):
        submission = await parts.store.submission(submission_id)
        if submission is not None and _may_see(student, submission):
            return submission
    detail = "There is no such submission, or it is somebody else's."
    raise Refusal(ErrorKind.UNKNOWN_SUBMISSION, detail)


Found = Annotated[StoredSubmission, Depends(_find)]


def _may_see(student: Identity, submission: StoredSubmission) -> bool:
    return submission.student == student.student or (submission.open and not student.credentialed)


@router.get("/{submission_id}", summary="A submission and its verdict", responses=_documented())
async def get_submission(submission: Found, parts: TheParts) -> Result:
    """The result; while it is being judged without a verdict, with what is known so far."""
    return await _result(parts, submission)


@router.post(
    "/{submission_id}/rejudge",
    status_code=202,
    summary="Judge a submission again",
    response_description="Queued again; earlier verdicts stay in its history",
    responses=ACCEPTED | _documented(*OF_POSTS, ErrorKind.NOT_FINISHED, *REFUSAL_KINDS.values()),
)
async def rejudge_submission(
    submission: Found, parts: TheParts, response: Response
) -> AcceptedSubmission:
    """Judge the same source with the same seed, by the exercise as it is now."""
    problem = parts.bank.current(submission.problem)
    version = problem.version if problem else submission.judging.problem_version
    try:
        with _bounded():
            await parts.store.rejudge(submission.id, version, _bounds(parts.settings))
    except StillJudging:
        detail = "It is still being judged. Ask again when it is finished."
        raise Refusal(ErrorKind.NOT_FINISHED, detail) from None
    return _accepted(response, submission.id, submission.problem, submission.kind, "queued")


@router.get("/{submission_id}/files", summary="What was judged", responses=_documented())
async def get_submitted_files(submission: Found, parts: TheParts) -> SubmittedFiles:
    """The sources, as text."""
    sources = await parts.store.sources(submission.id)
    return SubmittedFiles(files={name: _as_text(source) for name, source in sources.items()})


@router.get(
    "/{submission_id}/judgings",
    summary="How often a submission was judged, and how it ended",
    responses=_documented(),
)
async def list_judgings(submission: Found, parts: TheParts) -> Judgings:
    """All passes over the submission, oldest first."""
    return Judgings(
        judgings=[
            JudgingEntry(
                number=judging.number,
                state=judging.state,
                problem_version=judging.problem_version,
                attempts=judging.attempts,
                verdict=judging.verdict,
                score=judging.score,
                created_at=judging.created_at,
                finished_at=judging.finished_at,
            )
            for judging in await parts.store.judgings(submission.id)
        ]
    )


@router.get(
    "/{submission_id}/events",
    status_code=200,
    summary="A submission's events as they happen",
    response_class=EventStream,
    response_description="Events, and `position` while it waits; ends after `finished`",
    responses={
        200: {"content": {EventStream.media_type: {"itemSchema": STREAM_ITEM}}},
        204: {"description": "Everything was seen before: there is no need to connect again"},
        **_documented(ErrorKind.TOO_MANY_STREAMS),
    },
)
async def stream_events(
    submission: Found,
    parts: TheParts,
    student: Student,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="the last event seen: go on after it"),
    ] = None,
) -> Response:
    """Server-Sent Events of the newest judging, from its beginning or after `Last-Event-ID`."""
    take_seat = partial(parts.seats.take, student.student)
    after = await resume_after(parts, submission, last_event_id)
    result = submission.judging.result
    if result is not None and not await parts.store.events_after(submission.judging.id, after, 1):
        if after:
            return Response(status_code=204)
        return EventStream(replayed(result), take_seat)
    return EventStream(frames(parts, submission, after), take_seat)


@router.get(
    "/{submission_id}/charts/{chart_id}.{form}",
    status_code=200,
    summary="A chart, as Vega-Lite or as a picture",
    response_class=Response,
    response_description="The chart",
    responses={
        200: {
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "image/svg+xml": {"schema": {"type": "string"}},
                "image/png": {"schema": {"type": "string", "format": "binary"}},
            }
        },
        **_documented(
            ErrorKind.UNKNOWN_CHART, ErrorKind.NOT_FINISHED, ErrorKind.UNDRAWABLE_CHART,
            ErrorKind.NO_RENDERER,
        ),
    },
)  # fmt: skip
async def get_chart(
    submission: Found, parts: TheParts, chart_id: str, form: Literal["json", "svg", "png"]
) -> Response:
    """A chart of the submission's own function; its numbers are in it, and nothing is fetched."""
    chart = _chart(await _result(parts, submission), chart_id)
    match form:
        case "json":
            return Response(json.dumps(self_contained(chart)), media_type="application/json")
        case "svg":
            drawing = await _drawn(parts, chart)
            return Response(drawing.svg, 200, PICTURE_HEADERS, "image/svg+xml")
        case "png":
            drawing = await _drawn(parts, chart)
            return Response(drawing.png, 200, PICTURE_HEADERS, "image/png")


def _chart(result: Result, chart_id: str) -> Chart:
    """The chart of that id; raises `Refusal`."""
    for chart in result.charts:
        if chart.id == chart_id:
            return chart
    if result.state != "finished":
        detail = "This chart is not there yet: the submission is still being judged."
        raise Refusal(ErrorKind.NOT_FINISHED, detail)
    names = _listed([chart.id for chart in result.charts]) or "none"
    raise Refusal(ErrorKind.UNKNOWN_CHART, f"This submission has these charts: {names}.")


async def _drawn(parts: Parts, chart: Chart) -> Drawing:
    """The chart as pictures; raises `Refusal`."""
    try:
        return await parts.drawer.draw(chart)
    except ChartsUnavailable as error:
        raise Refusal(ErrorKind.NO_RENDERER, f"On the server: {error}") from None
    except UndrawableChart:
        detail = "The exercise describes it wrongly. Its numbers are in the submission's result."
        raise Refusal(ErrorKind.UNDRAWABLE_CHART, detail) from None


async def _result(parts: Parts, submission: StoredSubmission) -> Result:
    """The result, folded from the events while there is no final one."""
    judging = submission.judging
    if judging.result is not None:
        return judging.result
    version = judging.problem_version
    facts = (await parts.store.facts([version])).get(version)
    events: list[StreamEvent] = []
    after = 0
    while page := await parts.store.events_after(judging.id, after):
        events += [stored.event for stored in page]
        after = page[-1].id
    return unfinished(submission, await _manifest(parts, submission), facts, events)


async def _manifest(parts: Parts, submission: StoredSubmission) -> Manifest:
    """The manifest of the version that the submission is judged by, current or not."""
    version = submission.judging.problem_version
    current = parts.bank.current(submission.problem)
    if current is not None and current.version == version:
        return current.manifest
    _, contents = await parts.store.contents(version)
    folder = Path(submission.problem)
    manifest = validate(Manifest, folder / MANIFEST, parse_file(folder, contents, MANIFEST))
    if isinstance(manifest, list):  # it was valid when it was stored, by the rules of then
        raise ProblemError(manifest)
    return manifest


def _as_text(source: bytes) -> str:
    return _SURROGATE.sub("\ufffd", source.decode("utf-8", "surrogatepass"))
