"""What requests and answers look like; a submission itself is `judge.results.Result`.

Every operation's refusals are documented with `refusals`, so that a client knows them all.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, JsonValue, TypeAdapter

from judge.events import StreamEvent
from judge.manifest import Course, Fault, Takeaway
from judge.results import Chart, Kind, Limits, Record, State
from judge.service.errors import MEDIA_TYPE, ErrorKind, ErrorReport
from judge.verdicts import Verdict

# --- the catalogue --------------------------------------------------------------------------------


class TrackCard(Record):
    """A track of the catalogue."""

    id: str
    title: str
    summary: str


class TierName(Record):
    """A tier by name; an `advisory` one counts for nothing."""

    id: str
    title: str
    advisory: bool


class Progress(Record):
    """How far the student who asks has come with an exercise: failed is tried, and not solved.

    `failed_tier` is where the newest submission of all tiers ended, when none was ever accepted.
    `tests` is how far the student's own tests have come; where an exercise takes them, solved means
    both. `submissions` and `last_at` are of both kinds; runs are of neither.
    """

    state: Literal["untouched", "failed", "solved"] = "untouched"
    tests: Literal["untouched", "failed", "passed"] | None = None
    failed_tier: str | None = None
    submissions: int = 0
    last_at: datetime | None = None


class PassRate(Record):
    """Of the students who tried an exercise, how many have solved it."""

    tried: int
    solved: int


class ProblemCard(Record):
    """An exercise in the catalogue.

    `number` is its place in the track, `label` what the track calls it: the module of a course
    chapter, else the number. `needs` and `used_by` are slugs of other exercises. `pass_rate` is
    there once enough students have tried it to say anything.
    """

    slug: str
    title: str
    summary: str
    track: str
    number: int
    label: str
    tags: list[str]
    tiers: list[TierName]
    needs: list[str]
    used_by: list[str]
    progress: Progress
    pass_rate: PassRate | None
    version: str


class FaultCard(Record):
    """One thing wrong with a problem folder."""

    file: str
    line: int
    message: str
    remedy: str

    @classmethod
    def of(cls, fault: Fault) -> FaultCard:
        """The card of a fault."""
        return cls(
            file=str(fault.file), line=fault.line, message=fault.message, remedy=fault.remedy
        )


class BrokenFolder(Record):
    """A problem folder that is not valid now; its last good version, if any, is still shown."""

    slug: str
    faults: list[FaultCard]


class Catalogue(Record):
    """All exercises. `broken` is told to nobody but the person at the judge's own machine.

    `author` is the exercise whose folder `judge dev` shows; null in every other judge.
    """

    tracks: list[TrackCard]
    problems: list[ProblemCard]
    broken: list[BrokenFolder]
    author: str | None = None


# --- one exercise ---------------------------------------------------------------------------------


class TrackPlace(Record):
    """Where an exercise stands in its track."""

    id: str
    title: str
    number: int


class FileToWrite(Record):
    """A file the student writes; `starter` is what the editor opens with."""

    name: str
    role: str
    starter: str


class Provided(Record):
    """What is already defined for the student: read-only, with the names it defines."""

    name: str
    source: str
    names: list[str]


class CheckToPass(Record):
    """What is told of a check before it runs: the sentence that should hold, and why it matters."""

    id: str
    title: str
    kind: str
    why: str


class TierToPass(Record):
    """A tier. `visible` names the checks that `kind: run` executes; true is all of them.

    `checks` are empty until a worker has read them. What an `advisory` tier finds counts neither
    for the verdict nor for the score.
    """

    id: str
    title: str
    about: str
    requires: list[str]
    visible: bool | list[str]
    checks: list[CheckToPass]
    advisory: bool


class Preview(Record):
    """The charts that the reference draws; `pending` until a worker has drawn them."""

    state: Literal["ready", "pending", "failed"]
    charts: list[Chart]


class RunnableExample(Record):
    """Lines to run after the student's file, and what they print; `reasoning_html` is safe HTML."""

    title: str
    code: str
    output: str
    reasoning_html: str


class OwnTestsCard(Record):
    """How a student's own tests are graded: by how many of `mutants` wrong solutions they notice.

    `must_kill` of them may not be missed. `imports` are the modules that tests may import.
    """

    imports: list[str]
    threshold: float
    mutants: int
    must_kill: int


class ProblemPage(Record):
    """An exercise, with everything a student may know of it. `statement_html` is safe HTML.

    `rules` are sentences about what a solution may not use. `unmet_needs` are those of `needs`
    whose solution this exercise is judged on top of, and which the student has not solved yet.
    """

    slug: str
    title: str
    summary: str
    track: TrackPlace
    tags: list[str]
    statement_html: str
    hints: list[str]
    files: list[FileToWrite]
    provided: Provided | None
    contract: str
    entry_points: list[str]
    tiers: list[TierToPass]
    limits: Limits
    sources: list[str]
    needs: list[str]
    used_by: list[str]
    unmet_needs: list[str]
    rules: list[str]
    course: Course | None
    takeaways: list[Takeaway]
    examples: list[RunnableExample]
    own_tests: OwnTestsCard | None
    progress: Progress
    pass_rate: PassRate | None
    preview: Preview
    version: str


class EditorialStep(Record):
    """One part of an editorial, to be read before the next.

    Both are safe HTML; the title, which may be empty, stands in a line with other words.
    """

    title_html: str
    html: str


class Solution(Record):
    """What is shown to whoever has solved an exercise: the reference, and how to get there."""

    files: dict[str, str]
    editorial: list[EditorialStep]


# --- submissions ----------------------------------------------------------------------------------


class SubmissionRequest(Record):
    """A submission: the files of a solution by name, exactly these.

    A run may bring a `scratch.py` as well. Then no check runs, but this file after the others, with
    their names defined in it. Tests come by themselves: files called `tests/test_....py`, at least
    one and at most sixteen.
    """

    problem: str = Field(examples=["multi-head-attention"])
    files: dict[str, str] = Field(
        examples=[{"solution.py": "def multi_head_attention(*args):\n    ...\n"}]
    )
    kind: Kind = Field(
        default="submit",
        description="`submit`: all tiers, kept. `run`: what the exercise shows, not in the "
        "history. `tests`: the student's own tests, where an exercise takes them",
    )
    ref_deps: bool = Field(
        default=False,
        strict=True,
        description="judge on top of the reference solutions of what the exercise builds on, not "
        "of the student's own",
    )


class AcceptedSubmission(Record):
    """A submission that is stored and queued: it will have a verdict, whatever happens."""

    id: str
    problem: str
    kind: Kind
    state: State
    url: str = Field(description="the submission; its result, once finished")
    events: str = Field(description="its stream of events")


class HistoryEntry(Record):
    """A submission in a student's history; `judgings` counts how often it was judged.

    `failed_tier` is the first tier that did not accept it, `judged_ms` how long judging took.
    """

    id: str
    problem: str
    problem_version: str
    kind: Kind
    state: State
    verdict: Verdict | None
    score: float | None
    failed_tier: str | None
    judged_ms: float | None
    created_at: datetime
    judgings: int


class History(Record):
    """A part of a student's history, newest first. `next` goes into `before` for the next part."""

    submissions: list[HistoryEntry]
    next: str | None


class JudgingEntry(Record):
    """One pass over a submission."""

    number: int
    state: State
    problem_version: str
    attempts: int
    verdict: Verdict | None
    score: float | None
    created_at: datetime
    finished_at: datetime | None


class Judgings(Record):
    """All passes over a submission, oldest first; the last is what counts."""

    judgings: list[JudgingEntry]


class SubmittedFiles(Record):
    """What was judged; what cannot be written as Unicode is shown as U+FFFD.

    Beside what was submitted these are the student's own solutions that it was judged on top of,
    by their paths in the library.
    """

    files: dict[str, str]


class Position(Record):
    """Data of the `position` events of a stream: how many are judged before this one."""

    ahead: int


# --- operations -----------------------------------------------------------------------------------


class Health(Record):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(Record):
    """Whether submissions are judged now; `reasons` say why not."""

    ready: bool
    reasons: list[str]


# --- documentation --------------------------------------------------------------------------------

Documented = dict[int | str, dict[str, Any]]

# What a frame of a stream holds, by OpenAPI 3.2; `data` is one of these, as JSON.
STREAM_DATA: TypeAdapter[StreamEvent | Position] = TypeAdapter(StreamEvent | Position)


def stream_item(model: str) -> dict[str, JsonValue]:
    """A frame whose data is this schema's, as JSON."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"$ref": f"#/components/schemas/{model}"},
            },
            "retry": {"type": "integer"},
        },
    }


STREAM_ITEM = stream_item("StreamData")
RETRY_AFTER: dict[str, JsonValue] = {
    "description": "seconds after which to try again",
    "schema": {"type": "integer"},
}
ACCEPTED: Documented = {
    202: {
        "headers": {
            "Location": {"description": "the submission", "schema": {"type": "string"}},
        }
    }
}
EVERYWHERE = (ErrorKind.UNKNOWN_HOST, ErrorKind.FAULT)


def refusals(*kinds: ErrorKind) -> Documented:
    """The refusals of an operation, as FastAPI's `responses`; those of all are added."""
    titles: dict[int, list[str]] = {}
    for kind in (*kinds, *EVERYWHERE):
        titles.setdefault(kind.status, []).append(kind.title)
    schema: dict[str, JsonValue] = {"$ref": f"#/components/schemas/{ErrorReport.__name__}"}
    documented: Documented = {
        status: {"description": "; ".join(words), "content": {MEDIA_TYPE: {"schema": schema}}}
        for status, words in titles.items()
    }
    for status in documented.keys() & {429, 503}:
        documented[status]["headers"] = {"Retry-After": RETRY_AFTER}
    return documented
